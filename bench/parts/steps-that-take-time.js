import { defineHandler } from '../../dist/index.js';
import { medians } from '../lab.js';
import { countCommits, putThrough, startedEngine, watched } from '../runs.js';
import { markForStrace } from '../strace.js';

const stepsPerRun = 3;
const longestMs = 20;

const flow = `workflow: slow
steps:
  - { id: a, step: take-time }
  - { id: b, step: take-time }
  - { id: c, step: take-time }
`;

/** The same durations for both sides, in the order in which they are asked for. */
function durations() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state / 2 ** 32) * longestMs;
  };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `engine: false` waits for the same durations without any engine: what they allow at best, timers included. */
export async function workload({ folder, durability, atOnce, runs, engine: withEngine = true, count = false }) {
  const next = durations();
  if (!withEngine) return watched(() => bare(next, runs, atOnce));
  const counter = count ? countCommits() : { commits: 0 };
  const handler = defineHandler({ name: 'take-time', run: () => pause(next()) });
  const file = `${folder}/runs.db`;
  const engine = await startedEngine({ file, durability, flow, handlers: [handler], concurrency: atOnce });
  await putThrough(engine, 'slow', { count: 200, atOnce });
  if (count) markForStrace();
  const seen = await watched(() => putThrough(engine, 'slow', { count: runs, atOnce }));
  if (count) markForStrace();
  await engine.close();
  return { ...seen, commits: counter.commits };
}

async function bare(next, runs, atOnce) {
  let begun = 0;
  const one = async () => {
    while (begun < runs) {
      begun += 1;
      for (let step = 0; step < stepsPerRun; step += 1) await pause(next());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Runs of three steps of 0–20 ms: how much of the time the steps allow is lost to the engine. */
export async function measure(lab) {
  const rows = [];
  for (const durability of ['power', 'process']) {
    const spec = { durability, atOnce: 100, runs: lab.quick ? 2000 : 6000 };
    const results = await lab.repeat(async () => {
      const best = await lab.workload('steps-that-take-time', { ...spec, engine: false });
      const { ms, delayP99Ms, delayMaxMs } = await lab.workload('steps-that-take-time', spec);
      return { percent: (best.ms / ms) * 100, delayP99Ms, delayMaxMs };
    });
    const { percent, delayP99Ms, delayMaxMs } = medians(results);
    const work = `3 steps of 0–20 ms, ${durability}, 100 at once`;
    const atLeast = durability === 'power' ? 75 : 85;
    rows.push({ work, what: 'of what the durations allow', value: percent, unit: '%', target: { atLeast } });
    const counted = await lab.countedWorkload('steps-that-take-time', spec);
    if (counted.fsyncs !== undefined) {
      const value = counted.fsyncs / spec.runs;
      rows.push({
        work,
        what: 'fsyncs',
        value,
        unit: 'a run',
        ...(durability === 'power' && { target: { atMost: 0.7 } }),
      });
    }
    rows.push({
      work,
      what: 'event loop late, 99th percentile',
      value: delayP99Ms,
      unit: 'ms',
      target: { atMost: 10 },
    });
    rows.push({ work, what: 'event loop late, longest', value: delayMaxMs, unit: 'ms', target: { atMost: 30 } });
  }
  return rows;
}
