import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Engine, type Run, SqliteStorage, createEngine, loadHandlers } from 'runsheet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Effect, PaymentSimulator } from '../../../handlers/_payment-simulator.js';
import { loadFlow } from '../../flows-support/load-flow.js';
import { temporaryFolder } from '../../flows-support/temporary-folder.js';
import { checkJournal, randomOf } from '../killer.js';
import { CallDesk } from './call-desk.js';
import { fasterClock } from './faster-clock.js';
import { Fleet, countsOf } from './fleet.js';
import { WatchedDatabase } from './watched-database.js';
import { type Work, paymentFaults, workFor } from './work.js';

/** `npm run test:crash` has the long form, and may be given another seed. */
const full = process.env['RUNSHEET_CRASH'] === 'full';
const { runs, killForMs } = full ? { runs: 500, killForMs: 120_000 } : { runs: 30, killForMs: 8_000 };
const killEveryMs = 500;
const kills = killForMs / killEveryMs;
/** What it is about has to happen, however long that takes. Runs wait and sleep, so that not all kills can hit work. */
const least = {
  killed: kills,
  killedAtWork: kills / 2,
  frozen: 1,
  takenFromFrozen: 1,
  recovered: 1,
  exactCounts: 1,
};
const patienceMs = killForMs + 10 * 60_000;
const seed = Number(process.env['RUNSHEET_SEED'] ?? 20_261_129);

const originals = [
  ...['order-fulfilment', 'book-shipment', 'travel-booking', 'import-orders'].map((name) => `definitions/${name}.yaml`),
  'test/crash/workers/limited.yaml',
];

/** The `concurrency` of limited.yaml. */
const limit = 2;

/** The waits of the flows take minutes. */
const factor = 4;
const leaseMs = 1_500;
/** So many runs are open at once: all workers have enough to do, and nothing waits for its turn for minutes. */
const mostOpen = 40;
/** With fewer, workers have nothing to be interrupted at. */
const leastOpen = 8;
/** Frozen in the middle of a transaction, one worker holds up the others. */
const busyTimeoutMs = 120_000;

/**
 * The flow as it is, but with a hundred times as long for the attempts of its steps: time runs faster here, and a machine
 * may be too busy to have answered after a second. Gives the copy, in `folder`.
 */
function patient(flow: string, folder: string): string {
  const text = readFileSync(flow, 'utf8');
  const longer = text.replace(/\btimeout: (\d+)(?=[sm]\b)/g, (_, count: string) => `timeout: ${count}00`);
  expect(longer, `${flow} sets its timeouts in seconds or minutes`).not.toBe(text);
  const copy = join(folder, basename(flow));
  writeFileSync(copy, longer);
  return copy;
}

const rowsOf = <Row>(file: string, sql: string): Row[] => {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
};

interface Feeding {
  /** Those that are started in any case, evenly over this time. */
  readonly count: number;
  readonly overMs: number;
  /** Whether more may be needed; then those after them are started too, so that there always is something to do. */
  needsMore(): boolean;
}

/** Starts runs one after the other, and tells those that have to be told something. Gives their ids. */
async function feed(engine: Engine, works: readonly Work[], database: WatchedDatabase, feeding: Feeding) {
  const { count, overMs, needsMore } = feeding;
  const ids = new Map<Work, string>();
  const begun = performance.now();
  const say = async ({ signal }: Work, id: string): Promise<void> => {
    if (signal !== undefined) await engine.signal(id, signal.name, signal.payload);
  };
  const isDue = (): boolean =>
    ids.size < count
      ? performance.now() - begun >= (ids.size / count) * overMs && database.countOpen() < mostOpen
      : needsMore() && database.countOpen() < leastOpen;
  const untold = new Map<Work, string>();
  while (ids.size < count || untold.size > 0 || needsMore()) {
    const work = works[ids.size];
    if (work !== undefined && isDue()) {
      const { id } = await engine.enqueue(work.workflow, work.input, { key: work.key });
      ids.set(work, id);
      if (work.signal?.early === true) await say(work, id);
      if (work.signal?.early === false) untold.set(work, id);
      continue;
    }
    for (const [one, id] of untold) {
      if ((await engine.getRun(id)).status !== 'waiting') continue;
      untold.delete(one);
      await say(one, id);
    }
    await delay(50);
  }
  return ids;
}

interface Commit {
  readonly worker: string;
  readonly run: number;
  readonly epoch: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly result: 'committed' | 'lease-lost' | 'inbox-changed';
}

function commitsIn(folder: string): Commit[] {
  return readFileSync(join(folder, 'commits.jsonl'), 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Commit]));
}

/** What was written in a journal was written by the holder of the lease, and never by one who had held it before. */
function checkWriters(database: WatchedDatabase, commits: readonly Commit[], owners: ReadonlyMap<string, string>) {
  const writers = new Map<string, { epoch: number; owner: string }>();
  const newest = new Map<number, number>();
  for (const { run, seq, epoch, owner } of database.writings()) {
    writers.set(`${run}/${seq}`, { epoch, owner });
    expect(epoch, `run ${run}, entry ${seq}: epochs never fall`).toBeGreaterThanOrEqual(newest.get(run) ?? 0);
    newest.set(run, epoch);
  }
  for (const { worker, run, epoch, from, to, result } of commits) {
    if (from === null || to === null || result === 'inbox-changed') continue;
    for (let seq = from; seq <= to; seq += 1) {
      const writer = writers.get(`${run}/${seq}`);
      if (result === 'committed') expect(writer).toEqual({ epoch, owner: owners.get(worker) });
      else if (writer !== undefined) expect(writer.epoch, `run ${run}, entry ${seq}`).toBeGreaterThan(epoch);
    }
  }
}

/** Every effect on the outside belongs to a run, stands under the key of its step, and was wanted. */
function checkEffects(ids: ReadonlyMap<Work, string>, effects: readonly Effect[], folder: string) {
  const paid = new Map<string, string[]>();
  for (const { key, path, status } of effects) {
    const [run = '', rest] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)];
    expect(rest).toBe(path === '/charges' ? 'charge#0:forward' : 'charge#0:compensate');
    paid.set(run, [...(paid.get(run) ?? []), `${path} ${status}`]);
  }
  const bookings = new Map<string, Record<string, string>>();
  const rows = rowsOf<{ trip: string; kind: string; state: string }>(
    join(folder, 'travel', 'travel.db'),
    'SELECT trip, kind, state FROM booking',
  );
  for (const { trip, kind, state } of rows) {
    expect(bookings.get(trip)?.[kind], `${trip} has one booking of a ${kind}`).toBeUndefined();
    bookings.set(trip, { ...bookings.get(trip), [kind]: state });
  }
  for (const [work, id] of ids) {
    expect(paid.get(id) ?? [], work.key).toEqual(work.payments);
    expect(bookings.get(id) ?? {}, work.key).toEqual(work.bookings);
  }
  const sum = (sql: string): unknown => rowsOf<{ sum: number }>(join(folder, 'shop', 'shop.db'), sql)[0]?.sum;
  const orders = [...ids.keys()].filter(({ workflow }) => workflow === 'order-fulfilment');
  const pieces = (some: readonly Work[]): number =>
    some.flatMap(({ input }) => input['items'] as { qty: number }[]).reduce((total, { qty }) => total + qty, 0);
  const shipped = orders.filter(({ end }) => end.status === 'completed');
  // All that came in was shipped or lies on the shelf again.
  expect(sum('SELECT sum(picked) AS sum FROM reservation')).toBe(pieces(shipped));
  expect(sum('SELECT sum(quantity) AS sum FROM stock')).toBe(pieces(orders) - pieces(shipped));
  expect(sum('SELECT count(*) AS sum FROM parcel')).toBe(shipped.length);
}

describe('four worker processes on one database, killed one after the other, and one that is frozen', () => {
  test('bring all runs to the right end', { timeout: 60 * 60_000 }, async () => {
    const random = randomOf(seed);
    const folder = temporaryFolder();
    const flows = originals.map((flow) => patient(flow, folder));
    const path = join(folder, 'runs.db');
    const pace = { since: Date.now(), factor };
    const clock = fasterClock(pace);
    const simulator = new PaymentSimulator();
    onTestFinished(() => simulator.close());
    // The engine of this process drives nothing: it starts runs, tells them things, and waits for them.
    const engine = createEngine({
      storage: new SqliteStorage(path, { busyTimeoutMs, trustSchema: true }),
      definitions: flows.map(loadFlow),
      handlers: [...(await loadHandlers('handlers')), ...(await loadHandlers('test/crash/workers/handlers.ts'))],
      clock,
    });
    await engine.listRuns();
    onTestFinished(() => engine.close(true));
    const database = new WatchedDatabase(path, 'limited', pace);

    const desk = await CallDesk.open(async (call) => {
      // Whoever is there first waits until the limit has been reached, so that it has been in any case.
      while (database.mostLive() < limit) await delay(20);
      // Long enough to be killed and frozen in.
      await delay(20 + random() * 60);
      call.answer();
    });
    const site = { folder, payments: await simulator.listen(), desk: desk.address };
    const works = workFor(site, 10 * runs);
    simulator.plan(paymentFaults(works));

    const fleet = new Fleet({
      order: {
        database: path,
        flows,
        engine: { concurrency: 4, runLeaseDurationMs: leaseMs * factor },
        storage: { durability: 'power', busyTimeoutMs, trustSchema: true },
        commits: join(folder, 'commits.jsonl'),
        faster: pace,
      },
      database,
      workers: 4,
      random,
      now: () => clock.now(),
      freezeMs: leaseMs + 2_000,
    });
    await fleet.begin();
    let harassed = false;
    const [casualties, ids] = await Promise.all([
      fleet.harass({ everyMs: killEveryMs, forMs: killForMs, least, patienceMs }).finally(() => void (harassed = true)),
      feed(engine, works, database, { count: runs, overMs: killForMs * 0.95, needsMore: () => !harassed }),
    ]);

    const ended = new Map<Work, Run>();
    for (const [work, id] of ids) ended.set(work, await engine.result(id));
    for (const [work, run] of ended) expect(run, `${work.key}, seed ${seed}`).toMatchObject(work.end);
    await fleet.end();

    for (const { run } of database.runs()) checkJournal(database.journal(run));
    const commits = commitsIn(folder);
    checkWriters(database, commits, fleet.owners);
    checkEffects(ids, simulator.effects(), folder);
    expect(existsSync(`${path}-engines`) ? readdirSync(`${path}-engines`) : []).toHaveLength(1);

    // At every claim and renewal, as its own transaction saw it.
    expect(database.leases().filter(({ live }) => live > limit)).toEqual([]);
    expect(database.mostLive()).toBe(limit);

    // What it was about has happened.
    for (const [what, count] of countsOf(least)) expect(casualties[what], what).toBeGreaterThanOrEqual(count);
  });
});
