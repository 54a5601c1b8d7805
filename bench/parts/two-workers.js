import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { SqliteStorage, defineHandler } from '../../dist/index.js';
import { median, medians } from '../lab.js';
import { definitionOf, startedEngine } from '../runs.js';

const flows = {
  saturated: `workflow: trivial
steps:
  - { id: a, step: answer, with: { n: 1 } }
  - { id: b, step: answer, with: { n: 2 } }
  - { id: c, step: answer, with: { n: 3 } }
`,
  'steps of 0–20 ms': `workflow: slow
steps:
  - { id: a, step: take-time }
  - { id: b, step: take-time }
  - { id: c, step: take-time }
`,
};
const longestMs = 20;
const atOnce = 100;
const lookEveryMs = 10;
const fillMs = 3000;
const childFile = fileURLToPath(new URL('../child.js', import.meta.url));

/**
 * `work` drives what is in the file until its standard input ends. Without it: has so many such processes drive many runs
 * at once, and tells how many of them ended in a second, between the first tenth and the last.
 */
export async function workload(spec) {
  return spec.work === true ? drive(spec) : measureWorkers(spec);
}

async function drive({ file, kind, durability }) {
  let state = process.pid;
  const next = () => ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32) * longestMs;
  const handlers = [
    defineHandler({ name: 'answer', run: ({ input }) => ({ n: input.n, text: 'x'.repeat(200) }) }),
    defineHandler({ name: 'take-time', run: () => new Promise((resolve) => setTimeout(resolve, next())) }),
  ];
  const engine = await startedEngine({ file, durability, flow: flows[kind], handlers, concurrency: atOnce });
  process.stdout.write('ready');
  process.stdin.resume();
  await once(process.stdin, 'end');
  await engine.close();
  return {};
}

async function measureWorkers({ folder, kind, durability, workers, runs }) {
  const file = `${folder}/runs.db`;
  const storage = new SqliteStorage(file, { durability: 'process' });
  await storage.open();
  const work = JSON.stringify({ folder, file, kind, durability, work: true });
  const children = Array.from({ length: workers }, () =>
    spawn(process.execPath, [childFile, 'two-workers', work], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  // Nothing is due before all are there.
  await fill(storage, definitionOf(flows[kind]), runs, Date.now() + fillMs);
  await storage.close();
  const perSecond = await endsPerSecond(file, runs);
  for (const child of children) child.stdin.end();
  await Promise.all(children.map((child) => once(child, 'close')));
  return { perSecond };
}

async function fill(storage, { name, hash, revision }, runs, dueAt) {
  const enqueue = (index) => {
    const id = `wf_${String(index).padStart(32, '0')}`;
    const run = { id, workflow: name, revision, definitionHash: hash, key: null, input: '{}' };
    return storage.enqueueRun({ ...run, createdAt: dueAt, dueAt });
  };
  await Promise.all(Array.from({ length: runs }, (_, index) => enqueue(index)));
  if (Date.now() > dueAt) throw new Error(`filling the file took longer than ${fillMs} ms`);
}

async function endsPerSecond(file, runs) {
  const db = new Database(file);
  const count = db.prepare('select count(*) from run where archived = 0 and ended_at is not null').pluck();
  const reached = async (share) => {
    for (;;) {
      const ended = count.get();
      if (ended >= runs * share) return { ended, at: performance.now() };
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  };
  const first = await reached(0.1);
  const last = await reached(0.9);
  db.close();
  return (last.ended - first.ended) / ((last.at - first.at) / 1000);
}

/** Worker processes that share one file: what a second one adds. */
export async function measure(lab) {
  const rows = [];
  for (const kind of Object.keys(flows)) {
    const spec = { kind, durability: 'power', runs: lab.quick ? 3000 : 10_000 };
    const results = await lab.repeat(async () => {
      // In turn, since a disk that is fast now may be slow in a minute.
      const [one, two, four] = [
        await lab.workload('two-workers', { ...spec, workers: 1 }),
        await lab.workload('two-workers', { ...spec, workers: 2 }),
        await lab.workload('two-workers', { ...spec, workers: 4 }),
      ].map(({ perSecond }) => perSecond);
      return { one, twoToOne: two / one, fourToTwo: four / two };
    });
    const work = `workers on one file, power, ${kind}`;
    rows.push({ work, what: 'runs of one worker', value: medians(results).one, unit: '/s' });
    const twoToOne = results.map((result) => result.twoToOne);
    rows.push(...ratioRows(work, 'two workers to one', twoToOne, kind === 'saturated' ? 1 : 1.4));
    const fourToTwo = results.map((result) => result.fourToTwo);
    rows.push(...ratioRows(work, 'four workers to two', fourToTwo, 1));
  }
  return rows;
}

/** The median, and how far the rounds lie apart: workers that share a disk and two cores differ from one to the next. */
function ratioRows(work, what, ratios, atLeast) {
  return [
    { work, what, value: median(ratios), unit: '×', target: { atLeast } },
    { work, what: `${what}, lowest round`, value: Math.min(...ratios), unit: '×' },
    { work, what: `${what}, highest round`, value: Math.max(...ratios), unit: '×' },
  ];
}
