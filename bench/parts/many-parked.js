import { SqliteStorage, defineHandler } from '../../dist/index.js';
import { median, medians } from '../lab.js';
import { completed, definitionOf, startedEngine } from '../runs.js';

const flow = `workflow: parked
steps:
  - { id: only, step: nothing }
`;
const nothing = defineHandler({ name: 'nothing', run: () => undefined });
const watchMs = 2000;
/** How often an idle engine looks for what other processes have changed. */
const lookEveryMs = 20;

/** `prepare` fills a file with runs that are due in a year; without it an engine lives with them. */
export async function workload({ file, prepare, runs, bare = false }) {
  if (bare) return { idlePercent: await percentWhileIdle(setInterval(() => {}, lookEveryMs)) };
  return prepare ? fill(file, runs) : liveWith(file);
}

/** Processor time of this process, in percent of one core, while it has nothing to do. */
async function percentWhileIdle(timer) {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, watchMs));
  const { user, system } = process.cpuUsage(before);
  clearInterval(timer);
  return ((user + system) / 1000 / watchMs) * 100;
}

async function fill(file, runs) {
  const definition = definitionOf(flow);
  const storage = new SqliteStorage(file, { durability: 'process' });
  await storage.open();
  const now = Date.now();
  for (let first = 0; first < runs; first += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        storage.enqueueRun({
          id: `wf_${String(first + index).padStart(32, '0')}`,
          workflow: definition.name,
          revision: definition.revision,
          definitionHash: definition.hash,
          key: null,
          input: '{}',
          createdAt: now,
          dueAt: now + 365 * 24 * 3_600_000,
        }),
      ),
    );
  }
  await storage.close();
  return {};
}

async function liveWith(file) {
  const began = performance.now();
  const engine = await startedEngine({ file, durability: 'process', flow, handlers: [nothing] });
  const startMs = performance.now() - began;
  for (let round = 0; round < 50; round += 1) await completed(engine, 'parked', {});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const idlePercent = await percentWhileIdle();
  const rssBytes = process.memoryUsage().rss;
  await engine.close();
  return { startMs, idlePercent, rssBytes, claimMs: await claimCost(file) };
}

/** Of one due run among those that are not. */
async function claimCost(file) {
  const { hash, name, revision } = definitionOf(flow);
  const storage = new SqliteStorage(file, { durability: 'process' });
  await storage.open();
  const costs = [];
  for (let round = 0; round < 101; round += 1) {
    const now = Date.now();
    const id = `wf_${String(round).padStart(8, '0')}${'f'.repeat(24)}`;
    const row = { workflow: name, revision, definitionHash: hash, key: null, input: '{}', createdAt: now, dueAt: now };
    await storage.enqueueRun({ id, ...row });
    const before = performance.now();
    const claim = { owner: 'bench', hashes: [hash], limit: 1, now, leaseExpiresAt: now + 3_600_000 };
    const claimed = await storage.claimRuns(claim);
    costs.push(performance.now() - before);
    if (claimed.length !== 1) throw new Error('the run that was due was not claimed');
  }
  await storage.close();
  return median(costs);
}

/** A file full of runs whose time has not come. */
export async function measure(lab) {
  const runs = lab.quick ? 10_000 : 100_000;
  const results = await lab.repeat(
    async () => {
      const file = `${lab.newFolder()}/runs.db`;
      await lab.workload('many-parked', { file, prepare: true, runs });
      const { idlePercent: barePercent } = await lab.workload('many-parked', { bare: true });
      return { ...(await lab.workload('many-parked', { file, prepare: false })), barePercent };
    },
    lab.quick ? 1 : 3,
  );
  const { startMs, idlePercent, barePercent, rssBytes, claimMs } = medians(results);
  const work = `${runs} runs that are not due`;
  return [
    { work, what: 'claim of a due one', value: claimMs, unit: 'ms', target: { atMost: 1 } },
    { work, what: 'processor, idle', value: idlePercent, unit: '%', target: { atMost: 1 } },
    { work, what: 'processor, a bare timer of 20 ms', value: barePercent, unit: '%' },
    { work, what: 'memory of the process', value: rssBytes / 2 ** 20, unit: 'MiB', target: { atMost: 150 } },
    { work, what: 'start of the engine', value: startMs, unit: 'ms', target: { atMost: 1000 } },
  ];
}
