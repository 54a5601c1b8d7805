import { defineHandler } from '../../dist/index.js';
import { medians } from '../lab.js';
import { rawCommits } from '../raw.js';
import { countCommits, putThrough, startedEngine, watched } from '../runs.js';
import { markForStrace } from '../strace.js';

const flow = `workflow: three-steps
steps:
  - { id: a, step: answer, with: { n: 1 } }
  - { id: b, step: answer, with: { n: 2 } }
  - { id: c, step: answer, with: { n: 3 } }
`;
const answer = defineHandler({ name: 'answer', run: ({ input }) => ({ n: input.n, text: 'x'.repeat(200) }) });

export async function workload({ folder, durability, atOnce, runs, count = false }) {
  const counter = count ? countCommits() : { commits: 0 };
  const file = `${folder}/runs.db`;
  const engine = await startedEngine({ file, durability, flow, handlers: [answer], concurrency: atOnce });
  await putThrough(engine, 'three-steps', { count: Math.min(runs, 500), atOnce });
  const commitsBefore = counter.commits;
  if (count) markForStrace();
  const seen = await watched(() => putThrough(engine, 'three-steps', { count: runs, atOnce }));
  if (count) markForStrace();
  const commits = counter.commits - commitsBefore;
  await engine.close();
  return { ...seen, commits };
}

/** Runs of three steps that do nothing: what the engine itself costs. */
export async function measure(lab) {
  const rows = [];
  for (const durability of ['power', 'process']) {
    for (const atOnce of [1, 10, 100]) rows.push(...(await measureOne(lab, durability, atOnce)));
  }
  return rows;
}

async function measureOne(lab, durability, atOnce) {
  const runs = (lab.quick ? 100 : 400) * { 1: 1, 10: 5, 100: 20 }[atOnce];
  const synchronous = durability === 'power' ? 'FULL' : 'NORMAL';
  const spec = { durability, atOnce, runs };
  const countedRuns = runs / 4;
  const counted = await lab.countedWorkload('three-steps', { ...spec, runs: countedRuns });
  const commitsPerRun = counted.commits / countedRuns;
  const results = await lab.repeat(async () => {
    // In turn, since a disk that is fast now may be slow in a minute.
    const raw = rawCommits(`${lab.newFolder()}/raw.db`, { synchronous, rowsPerCommit: 1, forMs: 300 });
    const { ms, cpuMs, delayP99Ms, delayMaxMs } = await lab.workload('three-steps', spec);
    const perSecond = runs / (ms / 1000);
    return { perSecond, toRaw: perSecond / raw.perSecond, cpuMs: cpuMs / runs, delayP99Ms, delayMaxMs };
  });
  const { perSecond, toRaw, cpuMs, delayP99Ms, delayMaxMs } = medians(results);
  const work = `3 steps, ${durability}, ${atOnce} at once`;
  const isSaturated = atOnce === 100;
  return [
    { work, what: 'runs', value: perSecond, unit: '/s' },
    { work, what: `runs to raw ${synchronous} one-row commits`, value: toRaw, unit: '×' },
    {
      work,
      what: 'commits to raw one-row commits',
      value: toRaw * commitsPerRun * 100,
      unit: '%',
      ...(durability === 'power' && atOnce === 1 && { target: { atLeast: 70 } }),
    },
    {
      work,
      what: 'commits',
      value: commitsPerRun,
      unit: 'a run',
      ...(durability === 'power' && atOnce === 1 && { target: { atMost: 4 } }),
    },
    ...(counted.fsyncs === undefined
      ? []
      : [
          {
            work,
            what: 'fsyncs',
            value: counted.fsyncs / countedRuns,
            unit: 'a run',
            ...fsyncTarget(durability, atOnce),
          },
        ]),
    {
      work,
      what: 'processor time',
      value: cpuMs,
      unit: 'ms a run',
      ...(durability === 'process' && isSaturated && { target: { atMost: 0.25 } }),
    },
    { work, what: 'event loop late, 99th percentile', value: delayP99Ms, unit: 'ms', target: { atMost: 10 } },
    { work, what: 'event loop late, longest', value: delayMaxMs, unit: 'ms', target: { atMost: 30 } },
  ];
}

function fsyncTarget(durability, atOnce) {
  if (durability !== 'power') return {};
  if (atOnce === 1) return { target: { atMost: 4.2 } };
  return atOnce === 100 ? { target: { atMost: 0.1 } } : {};
}
