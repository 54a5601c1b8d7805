import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { SqliteStorage, createEngine, loadHandlers } from 'runsheet';
import { describe, expect, test } from 'vitest';
import { loadFlow } from '../../flows-support/load-flow.js';
import { temporaryFolder } from '../../flows-support/temporary-folder.js';
import { recordedCalls } from '../handlers.js';
import { type Entry, checkJournal, randomOf } from '../killer.js';
import { expectedOfNested } from '../nested-expected.js';
import { WorkerProcess } from './worker-process.js';

const flow = 'test/crash/nested.yaml';
const full = process.env['RUNSHEET_CRASH'] === 'full';
const wantedCuts = full ? 100 : 24;
const seed = Number(process.env['RUNSHEET_SEED'] ?? 20_261_129);
/** How many entries the journals of a cut had in all: so many different counts show different moments. */
const leastLengths = 4;
const orders = [[1, 2], [3], [4, 5]];

/** What lies on the disk at one moment. */
interface Cut {
  readonly database: Buffer;
  readonly log: Buffer;
  readonly engines: string;
}

/**
 * Drives runs in a process that is frozen again and again, for as long as it takes to copy its files, from its first
 * moment to its last. Gives the copies, and the journals that the process wrote in the end.
 */
async function cutsOfRuns(random: () => number, checkpoints: { passiveFrames: number; restartFrames: number }) {
  const folder = temporaryFolder();
  const path = join(folder, 'runs.db');
  const calls = join(folder, 'calls.jsonl');
  const worker = await WorkerProcess.begin({
    name: 'driver',
    database: path,
    flows: [flow],
    engine: { concurrency: 2 },
    storage: { durability: 'power', checkpoints },
  });
  for (const some of orders) await worker.ask('enqueue', 'nested', { file: calls, orders: some });
  await worker.ask('start');
  const ids = (await worker.ask('listRuns')).runs.map(({ id }) => id);
  let over = false;
  const end = Promise.all(ids.map((id) => worker.ask('result', id))).finally(() => (over = true));
  const cuts: Cut[] = [];
  while (!over) {
    worker.freeze();
    const engines = join(folder, `engines-${cuts.length}`);
    cpSync(`${path}-engines`, engines, { recursive: true });
    cuts.push({ database: readFileSync(path), log: readFileSync(`${path}-wal`), engines });
    worker.thaw();
    await delay(random() * 30);
  }
  await end;
  await worker.end();
  return { cuts, calls, journals: journalsIn(path) };
}

function journalsIn(path: string): Map<string, Entry[]> {
  const database = new Database(path);
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    if (!isMade(database)) return new Map();
    const runs = database.prepare('select run, id from run').all() as { run: number; id: string }[];
    const journal = database.prepare('select * from journal where run = ? order by seq');
    return new Map(runs.map(({ run, id }) => [id, journal.all(run) as Entry[]]));
  } finally {
    database.close();
  }
}

/** Where the log was torn off before the end of the first transaction, the tables have never been. */
function isMade(database: Database.Database): boolean {
  return database.pragma('user_version', { simple: true }) !== 0;
}

/** The power is back: the files are there as they were cut. */
function restore({ database, log, engines }: Cut, folder: string): string {
  mkdirSync(folder);
  const path = join(folder, 'runs.db');
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  // The lock files survive; the locks do not.
  cpSync(engines, `${path}-engines`, { recursive: true });
  return path;
}

function leasedIn(path: string): number {
  const database = new Database(path, { readonly: true });
  try {
    if (!isMade(database)) return 0;
    return database.prepare('select count(*) from run where owner is not null').pluck().get() as number;
  } finally {
    database.close();
  }
}

/** The state is one that the uninterrupted process passed through; from there all comes to the right end. */
async function checkRecovery(path: string, journals: ReadonlyMap<string, readonly Entry[]>): Promise<number> {
  const recovered = journalsIn(path);
  for (const [id, journal] of recovered) {
    expect(journal).toEqual(journals.get(id)?.slice(0, journal.length));
  }
  const leased = leasedIn(path);
  const engine = createEngine({
    storage: new SqliteStorage(path, { durability: 'process' }),
    definitions: [loadFlow(flow)],
    handlers: await loadHandlers('test/crash/handlers.ts'),
    concurrency: 2,
  });
  try {
    expect(await engine.recover()).toMatchObject({ running: leased, compensating: 0 });
    await engine.start();
    for (const id of recovered.keys()) {
      const { status, input, output } = await engine.result(id);
      const { orders: some } = input as { orders: number[] };
      expect({ status, output }).toEqual({ status: 'completed', output: expectedOfNested(some).output });
    }
  } finally {
    await engine.close();
  }
  for (const [id, journal] of journalsIn(path)) {
    checkJournal(journal);
    // What was there is still there.
    expect(journal.slice(0, recovered.get(id)?.length)).toEqual(recovered.get(id));
  }
  return [...recovered.values()].reduce((sum, { length }) => sum + length, 0);
}

/** All that was ever called under one key had one input for each attempt, before the cut and after. */
function checkCalls(file: string): void {
  const inputs = new Map<string, object>();
  for (const { key, attempt, input } of recordedCalls(file)) {
    const call = `${key} ${attempt}`;
    expect(input, call).toEqual(inputs.get(call) ?? input);
    inputs.set(call, input);
  }
}

/** Some of them, evenly spread. */
function pick<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, list.length / count);
  return Array.from({ length: Math.min(count, list.length) }, (_, index) => list[Math.floor(index * step)] as T);
}

describe('database and log as they are at a random moment', () => {
  test.each([
    // So often that many a copy is made in the middle of a checkpoint.
    ['with checkpoints', { passiveFrames: 20, restartFrames: 60 }, false],
    ['with the end of the log torn off', { passiveFrames: 1e9, restartFrames: 1e9 }, true],
  ])(
    '%s: open, are a state that was passed through, and lead to the right end',
    { timeout: 30 * 60_000 },
    async (_, checkpoints, torn) => {
      const random = randomOf(seed);
      const lengths = new Set<number>();
      // One load gives some cuts before its runs have ended: load after load, until there were enough, of different moments.
      for (let checked = 0; checked < wantedCuts || lengths.size < leastLengths;) {
        const { cuts, calls, journals } = await cutsOfRuns(random, checkpoints);
        expect([...journals.keys()]).toHaveLength(orders.length);
        expect(cuts.length).toBeGreaterThan(0);
        const folder = temporaryFolder();
        for (const [index, cut] of pick(cuts, Math.max(1, wantedCuts - checked)).entries()) {
          const kept = torn ? Math.floor(cut.log.length * random()) : cut.log.length;
          const path = restore({ ...cut, log: cut.log.subarray(0, kept) }, join(folder, String(index)));
          lengths.add(await checkRecovery(path, journals));
          checked += 1;
        }
        checkCalls(calls);
        expect(existsSync(calls)).toBe(true);
      }
    },
  );
});
