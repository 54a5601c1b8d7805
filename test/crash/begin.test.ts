import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { type Entry, checkJournal, randomOf } from './killer.js';

/*
 * Processes that begin runs with the transactions that insert them, killed with SIGKILL. Whenever that was: a run is in the
 * file with its lease and its first entries, or not at all; what was acknowledged is there; no handler was called for what
 * is not; and the next process brings all to the right end, each run once.
 */

const kills = Number(process.env['RUNSHEET_KILLS'] ?? 20);
const seed = Number(process.env['RUNSHEET_SEED'] ?? 20_261_129);
const program = fileURLToPath(new URL('begin.js', import.meta.url));

interface Job {
  readonly folder: string;
  readonly durability: 'power' | 'process';
  readonly keys: readonly string[];
  readonly atOnce: number;
}

type Moment = 'asked' | 'committed' | 'acknowledged' | 'called';

/** One process, that dies by itself, is killed so long after it was ready, or lives to the end. Whether it did. */
async function live(job: Job, { dieAt, killAfterMs }: { dieAt?: Moment; killAfterMs?: number } = {}): Promise<boolean> {
  const { folder, ...rest } = job;
  const order = { ...rest, database: join(folder, 'runs.db'), log: join(folder, 'log.jsonl'), dieAt };
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  child.stdout.once('data', () => {
    if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  const [code, signal] = await exited;
  if (signal !== 'SIGKILL') expect(code, 'a process that was not killed ends well').toBe(0);
  return signal !== 'SIGKILL';
}

interface RunRow {
  readonly run: number;
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly owner: string | null;
  readonly epoch: number;
}

interface Left {
  readonly runs: readonly (RunRow & { readonly journal: readonly Entry[] })[];
  readonly begun: readonly string[];
  readonly acknowledged: ReadonlyMap<string, string>;
  readonly called: readonly string[];
}

/** What lies in the files, and must be true of them at any moment. */
function look({ folder }: Job): Left {
  const database = new Database(join(folder, 'runs.db'), { readonly: true });
  const rows = database.prepare('select run, id, key, status, owner, epoch from run order by run').all() as RunRow[];
  const journal = database.prepare('select * from journal where run = ? order by seq');
  const runs = rows.map((row) => ({ ...row, journal: journal.all(row.run) as Entry[] }));
  database.close();
  const lines = readFileSync(join(folder, 'log.jsonl'), 'utf8').split('\n').filter(Boolean);
  const told = lines.map(
    (line) => JSON.parse(line) as { begun?: string; acknowledged?: string; key?: string; called?: string },
  );
  const begun = told.flatMap(({ begun: id }) => id ?? []);
  const acknowledged = new Map(
    told.flatMap(({ acknowledged: id, key }) => (id === undefined ? [] : [[key ?? '', id]])),
  );
  const called = told.flatMap(({ called: key }) => key ?? []);

  const byKey = new Map(runs.map(({ key, id }) => [key, id]));
  const ids = new Set(runs.map(({ id }) => id));
  expect(byKey.size, 'a key has one run').toBe(runs.length);
  for (const [key, id] of acknowledged) expect(byKey.get(key), `what was acknowledged of ${key}`).toBe(id);
  for (const id of begun) expect(ids).toContain(id);
  for (const run of runs) checkJournal(run.journal);
  const started = new Set(
    runs.flatMap(({ journal: entries }) => entries.filter(({ kind }) => kind === 'step-started').map(keyOf)),
  );
  for (const key of called) expect(started, 'no handler is called before that is written down').toContain(key);
  return { runs, begun, acknowledged, called };
}

function keyOf({ payload }: Entry): string {
  return (JSON.parse(payload ?? '{}') as { idempotencyKey: string }).idempotencyKey;
}

/** All keys have one run, which has ended well, of which each step was called. */
function checkEnd(job: Job): Left {
  const left = look(job);
  expect(left.runs.map(({ key }) => key).sort()).toEqual([...job.keys].sort());
  for (const { id, status, owner, journal } of left.runs) {
    expect({ status, owner }).toEqual({ status: 'completed', owner: null });
    expect(journal.filter(({ kind }) => kind === 'step-completed').map(({ step }) => step)).toEqual(['a', 'b', 'c']);
    for (const step of ['a', 'b', 'c']) expect(left.called).toContain(`${id}:${step}#0:forward`);
  }
  return left;
}

describe('killed while it begins', () => {
  const one = ['k0'];
  /** They share a commit, or two where the machine is busy. */
  const several = ['k0', 'k1', 'k2'];

  test.each<[readonly string[], Moment, 'power' | 'process']>([
    [one, 'asked', 'power'],
    [one, 'committed', 'power'],
    [one, 'acknowledged', 'power'],
    [one, 'acknowledged', 'process'],
    [one, 'called', 'power'],
    [one, 'called', 'process'],
    [several, 'asked', 'process'],
    [several, 'committed', 'power'],
    [several, 'acknowledged', 'power'],
    [several, 'called', 'process'],
  ])('%j, when that is %s, with durability %s', { timeout: 60_000 }, async (keys, dieAt, durability) => {
    const job: Job = { folder: temporaryFolder(), durability, keys, atOnce: keys.length };
    expect(await live(job, { dieAt })).toBe(false);
    const { runs, called } = look(job);
    // All of it, or nothing.
    const leased = { status: 'running', owner: expect.stringContaining('engine_') as string, epoch: 1 };
    if (dieAt === 'asked') expect(runs).toEqual([]);
    else expect(runs.length).toBeGreaterThan(0);
    for (const run of runs) expect(run).toMatchObject(leased);
    for (const { journal } of runs) expect(journal.map(({ kind }) => kind)).toEqual(['run-started', 'step-started']);
    expect(called).toHaveLength(dieAt === 'called' ? 1 : 0);

    expect(await live(job)).toBe(true);
    const end = checkEnd(job);
    // Called again is only what was under way.
    expect(end.called).toHaveLength(3 * keys.length + called.length);
    expect(end.runs.slice(0, runs.length).map(({ id }) => id)).toEqual(runs.map(({ id }) => id));
  });
});

test.each(['power', 'process'] as const)(
  'killed at random moments, with durability %s, no run is lost, doubled or begun by halves',
  { timeout: 60 * 60_000 },
  async (durability) => {
    const random = randomOf(seed);
    let begunAtOnce = 0;
    for (let killed = 0; killed < kills / 2;) {
      const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
      const job: Job = { folder: temporaryFolder(), durability, keys, atOnce: 1 + Math.floor(random() * 12) };
      for (;;) {
        const isOver = await live(job, killed < kills / 2 ? { killAfterMs: random() * 250 } : {});
        if (isOver) break;
        killed += 1;
        look(job);
      }
      begunAtOnce += checkEnd(job).begun.length;
    }
    expect(begunAtOnce, 'it was about these').toBeGreaterThan(0);
  },
);
