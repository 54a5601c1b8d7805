import { execFileSync } from 'node:child_process';
import { fstatSync, mkdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type FileSync, type JournalRow, type RunRecord, SqliteStorage } from '../../src/storage/index.js';
import { aClaim, aRun, anEntry, unitOf } from '../../src/testing/storage-cases/case.js';
import { opened, temporaryFile, temporaryFolder } from './places.js';
import { type Random, randomFrom } from './random.js';

/** What the disk holds at a moment, and what had been acknowledged by then. */
interface Cut {
  readonly database: Buffer;
  /** The log as of the start of the newest sync that was over: the least that survives. */
  readonly syncedLog: Buffer;
  /** The log as the system sees it; any part of it beyond what is synced may survive or not. */
  readonly log: Buffer;
  readonly acknowledged: ReadonlyMap<number, number>;
}

/** Syncs take some turns of the event loop and may overtake each other; only they make the log durable. */
class SimulatedDisk implements FileSync {
  syncedLog: Buffer = Buffer.alloc(0);
  log = (): Buffer => this.syncedLog;
  #started = 0;
  #newestFinished = 0;

  /** `lies`: reports a sync as over when it begins, which is acknowledging before the sync. */
  constructor(
    readonly random: Random,
    readonly lies: boolean,
  ) {}

  start(fd: number, done: (error: Error | null) => void): void {
    const number = ++this.#started;
    const content = contentOf(fd);
    this.log = () => contentOf(fd);
    const finish = (turns: number): void => {
      if (turns > 0) return void setImmediate(finish, turns - 1);
      if (number > this.#newestFinished) {
        this.#newestFinished = number;
        this.syncedLog = content;
      }
      if (!this.lies) done(null);
    };
    setImmediate(finish, Math.floor(this.random() * 6));
    if (this.lies) setImmediate(done, null);
  }

  now(fd: number): void {
    this.#newestFinished = ++this.#started;
    this.syncedLog = contentOf(fd);
  }
}

/** Read through the storage's own descriptor: closing another one of the same file would drop SQLite's locks. */
function contentOf(fd: number): Buffer {
  const content = Buffer.alloc(fstatSync(fd).size);
  readSync(fd, content, 0, content.length, 0);
  return content;
}

/** Likewise the database, by another process. */
function contentOfFile(path: string): Buffer {
  return execFileSync('cat', [path], { maxBuffer: 1 << 30 });
}

/** Drives runs side by side, with a checkpoint now and then, and cuts the power at random moments. */
async function cutsUnderLoad(seed: number, { lies, cuts: wanted }: { lies: boolean; cuts: number }): Promise<Cut[]> {
  const random = randomFrom(seed);
  const path = temporaryFile();
  const disk = new SimulatedDisk(random, lies);
  const never = { passiveFrames: Infinity, restartFrames: Infinity };
  const storage = await opened(new SqliteStorage(path, { fileSync: disk, checkpoints: never }));
  const checkpointer = new Database(path, { timeout: 0 });
  let database = contentOfFile(path);
  const acknowledged = new Map<number, number>();
  const cuts: Cut[] = [];

  const cut = (): void => {
    cuts.push({ database, syncedLog: disk.syncedLog, log: disk.log(), acknowledged: new Map(acknowledged) });
  };
  const checkpoint = (): void => {
    // SQLite syncs the log before it copies, and the database after.
    const log = disk.log();
    checkpointer.pragma('wal_checkpoint(PASSIVE)');
    disk.syncedLog = log;
    database = contentOfFile(path);
  };
  const entry = (seq: number): JournalRow =>
    anEntry(seq, { payload: JSON.stringify('x'.repeat(Math.floor(random() ** 4 * 6000))) });
  const begin = async (): Promise<RunRecord> => {
    const { run, claimed } = await storage.startRun(aRun(), aClaim(), { entries: [entry(1)] });
    acknowledged.set(run.run, 1);
    expect(claimed?.id).toBe(run.id);
    return claimed ?? run;
  };
  const drive = async (): Promise<void> => {
    let run = await begin();
    for (let seq = 2; cuts.length < wanted; seq += 1) {
      if (random() < 0.1) [run, seq] = [await begin(), 2];
      await storage.commitUnits([unitOf(run, { entries: [entry(seq)] })]);
      acknowledged.set(run.run, seq);
      if (random() < 0.2) cut();
      if (random() < 0.03) checkpoint();
    }
  };
  await Promise.all(Array.from({ length: 6 }, drive));
  checkpointer.close();
  return cuts.slice(0, wanted);
}

/** The runs of which something acknowledged is missing after the power is back. */
function lossesAfter({ database, acknowledged }: Cut, log: Buffer, place: string): number[] {
  mkdirSync(place);
  const path = join(place, 'runs.db');
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  const recovered = new Database(path);
  try {
    recovered.pragma('synchronous = OFF');
    expect(recovered.pragma('integrity_check', { simple: true })).toBe('ok');
    const lastSeq = recovered.prepare('select max(seq) from journal where run = ?').pluck();
    const count = recovered.prepare('select count(*) from journal where run = ?').pluck();
    return [...acknowledged]
      .filter(([run, seq]) => {
        const last = (lastSeq.get(run) as number | null) ?? 0;
        expect(count.get(run), 'no gaps').toBe(last);
        return last < seq;
      })
      .map(([run]) => run);
  } finally {
    recovered.close();
  }
}

/** What may be left of the log: the synced part; garbage behind it; a torn piece of what was not synced. */
function remains({ syncedLog, log }: Cut, random: Random): Buffer[] {
  const garbage = Buffer.from(Array.from({ length: 5000 }, () => Math.floor(random() * 256)));
  const torn = log.subarray(0, syncedLog.length + Math.floor(random() * (log.length - syncedLog.length)));
  const isGrown = log.length > syncedLog.length && log.subarray(0, syncedLog.length).equals(syncedLog);
  return [syncedLog, isGrown ? torn : Buffer.concat([syncedLog, garbage])];
}

test('no power cut loses what was acknowledged', async () => {
  const cuts = await cutsUnderLoad(2, { lies: false, cuts: 120 });
  expect(cuts.filter(({ acknowledged }) => acknowledged.size > 0).length).toBeGreaterThan(100);
  const random = randomFrom(3);
  const folder = temporaryFolder();
  cuts.forEach((cut, index) => {
    remains(cut, random).forEach((log, variant) => {
      expect(lossesAfter(cut, log, join(folder, `${index}-${variant}`)), `cut ${index}, variant ${variant}`).toEqual(
        [],
      );
    });
  });
});

test('the simulation notices one who acknowledges before the sync is over', async () => {
  const cuts = await cutsUnderLoad(2, { lies: true, cuts: 30 });
  const folder = temporaryFolder();
  const losses = cuts.filter((cut, index) => lossesAfter(cut, cut.syncedLog, join(folder, `${index}`)).length > 0);
  expect(losses.length).toBeGreaterThan(0);
});
