import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SqliteStorage, defineHandler } from '../../dist/index.js';
import { medians } from '../lab.js';
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
const lookEveryMs = 2;
const childFile = fileURLToPath(new URL('../child.js', import.meta.url));

/**
 * `work` drives what is in the file until its standard input ends. Without it: fills the file, then has so many such
 * processes drive it at once, and tells how many runs a second have ended between the first tenth and the last.
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
  process.stdin.resume();
  await once(process.stdin, 'end');
  await engine.close();
  return {};
}

async function measureWorkers({ folder, kind, durability, workers, runs }) {
  const file = `${folder}/runs.db`;
  const { name, hash, revision } = definitionOf(flows[kind]);
  const storage = new SqliteStorage(file, { durability: 'process' });
  await storage.open();
  const now = Date.now();
  await Promise.all(
    Array.from({ length: runs }, (_, index) =>
      storage.enqueueRun({
        id: `wf_${String(index).padStart(32, '0')}`,
        workflow: name,
        revision,
        definitionHash: hash,
        key: null,
        input: '{}',
        createdAt: now,
        dueAt: now,
      }),
    ),
  );
  await storage.close();
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(file);
  const count = db.prepare('select count(*) from run indexed by run_ended where ended_at is not null').pluck();
  const children = Array.from({ length: workers }, () =>
    spawn(
      process.execPath,
      [childFile, 'two-workers', JSON.stringify({ folder, file, kind, durability, work: true })],
      { stdio: ['pipe', 'ignore', 'inherit'] },
    ),
  );
  const reached = async (share) => {
    while (count.get() < runs * share) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    return { at: performance.now(), ended: count.get() };
  };
  const first = await reached(0.1);
  const last = await reached(0.9);
  db.close();
  for (const child of children) child.stdin.end();
  await Promise.all(children.map((child) => once(child, 'close')));
  return { perSecond: (last.ended - first.ended) / ((last.at - first.at) / 1000) };
}

/** Worker processes that share one file: what a second one adds. */
export async function measure(lab) {
  const rows = [];
  for (const kind of Object.keys(flows)) {
    const spec = { kind, durability: 'power', runs: lab.quick ? 2000 : 6000 };
    const results = await lab.repeat(async () => {
      // In turn, since a disk that is fast now may be slow in a minute.
      const [one, two, four] = [
        await lab.workload('two-workers', { ...spec, workers: 1 }),
        await lab.workload('two-workers', { ...spec, workers: 2 }),
        await lab.workload('two-workers', { ...spec, workers: 4 }),
      ].map(({ perSecond }) => perSecond);
      return { one, twoToOne: two / one, fourToTwo: four / two };
    });
    const { one, twoToOne, fourToTwo } = medians(results);
    const work = `workers on one file, power, ${kind}`;
    rows.push({ work, what: 'runs of one worker', value: one, unit: '/s' });
    const atLeast = kind === 'saturated' ? 1 : 1.4;
    rows.push({ work, what: 'two workers to one', value: twoToOne, unit: '×', target: { atLeast } });
    rows.push({ work, what: 'four workers to two', value: fourToTwo, unit: '×', target: { atLeast: 1 } });
  }
  return rows;
}
