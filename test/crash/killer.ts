import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Run } from 'runsheet';
import { expect } from 'vitest';

const driveScript = fileURLToPath(new URL('drive.js', import.meta.url));

/** What a process is to drive, and where it leaves its traces. */
export interface Job {
  readonly folder: string;
  readonly flow: string;
  readonly handlers: string;
  readonly input: object;
}

/** Random numbers in [0, 1) from a seed (mulberry32, Tommy Ettinger, public domain). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Drives a run in one process after another, each killed with SIGKILL within `killWithinMs` of its
 * beginning, until one lives to the end. Answers the run and how many were killed.
 */
export async function driveThroughKills(
  job: Job,
  { kills, killWithinMs, random }: { kills: number; killWithinMs: number; random: () => number },
): Promise<{ run: Run; killed: number }> {
  for (let killed = 0; ;) {
    const run = await live(job, killed < kills ? random() * killWithinMs : undefined);
    if (run !== undefined) {
      checkJournal(journalOf(job));
      checkOperations(job);
      return { run, killed };
    }
    killed += 1;
  }
}

/** One process: the run it printed, or undefined if it was killed before. */
async function live(job: Job, killAfterMs: number | undefined): Promise<Run | undefined> {
  const order = { ...job, database: databaseOf(job), key: 'the one', log: logOf(job) };
  const child = spawn(process.execPath, [driveScript, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready' && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    last = line;
  }
  const end = await exited;
  if (end === 'SIGKILL') return last === 'ready' ? undefined : (JSON.parse(last) as Run);
  expect(end, 'a process that was not killed ends well').toBe(0);
  return JSON.parse(last) as Run;
}

const databaseOf = ({ folder }: Job): string => join(folder, 'runs.db');
const logOf = ({ folder }: Job): string => join(folder, 'operations.log');

export interface Entry {
  readonly seq: number;
  readonly kind: string;
  readonly step: string | null;
  readonly occurrence: string | null;
  readonly aspect: string | null;
  readonly payload: string | null;
}

/** The journal as it stands on the disk, without Runsheet. */
export function journalOf(job: Job): Entry[] {
  const database = new Database(databaseOf(job), { readonly: true });
  try {
    return database.prepare('SELECT * FROM journal ORDER BY seq').all() as Entry[];
  } finally {
    database.close();
  }
}

/** Of one run: no step begins again after it has completed; what is repeated has the key that it had. */
export function checkJournal(journal: readonly Entry[]): void {
  const completed = new Set<string>();
  const keys = new Map<string, string>();
  for (const [index, { seq, kind, step, occurrence, payload }] of journal.entries()) {
    expect(seq).toBe(index + 1);
    const place = `${step}#${occurrence}`;
    if (kind === 'step-completed') {
      expect(completed, `${place} completes once`).not.toContain(place);
      completed.add(place);
    }
    if (kind !== 'step-started') continue;
    expect(completed, `${place} begins again after it has completed`).not.toContain(place);
    const { idempotencyKey } = JSON.parse(payload ?? '') as { idempotencyKey: string };
    expect(idempotencyKey).toBe(keys.get(place) ?? idempotencyKey);
    keys.set(place, idempotencyKey);
  }
}

/** Each walk issues the operations that an earlier one had made durable, in the same order. */
function checkOperations(job: Job): void {
  if (!existsSync(logOf(job))) throw new Error('no process has logged its operations');
  let known: readonly string[] = [];
  let walk: string[] = [];
  let durable = 0;
  const end = (): void => {
    const prefix = Math.min(known.length, walk.length);
    expect(walk.slice(0, prefix)).toEqual(known.slice(0, prefix));
    if (durable > known.length) known = walk.slice(0, durable);
  };
  const lines = readFileSync(logOf(job), 'utf8').split('\n');
  for (const whole of lines.filter((line) => line.endsWith(';'))) {
    const line = whole.slice(0, -1);
    if (line === 'walk') {
      end();
      walk = [];
      durable = 0;
    } else if (line.startsWith('durable ')) durable = Number(line.slice('durable '.length));
    else walk.push(line);
  }
  end();
}
