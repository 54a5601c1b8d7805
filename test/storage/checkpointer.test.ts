import { once } from 'node:events';
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { Checkpointer } from '../../src/storage/sqlite/checkpointer.js';
import { ManualClock, turns } from './clocks.js';
import { afterwards, temporaryFile } from './places.js';

let path: string;
let db: Database.Database;
let clock: ManualClock;
let checkpointer: Checkpointer;

beforeEach(() => {
  path = temporaryFile();
  clock = new ManualClock();
  db = new Database(path, { timeout: 0 });
  afterwards(() => db.close());
  db.pragma('journal_mode = WAL');
  db.pragma('wal_autocheckpoint = 0');
  db.exec('create table note (text)');
  checkpointer = new Checkpointer(db, path, clock, { passiveFrames: 50, restartFrames: 200 });
  afterwards(() => checkpointer.end());
});

const bytes = 8000;

/** Two or three frames. */
function write(): void {
  try {
    db.prepare('insert into note values (?)').run('x'.repeat(bytes));
    checkpointer.wrote({ writes: 1, bytes });
  } catch (error) {
    // RESTART holds the lock for a moment.
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY')) throw error;
  }
}

function frames(): { log: number; checkpointed: number } {
  const [row] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
  return row;
}

async function writeUntil(isReached: () => boolean): Promise<void> {
  for (let count = 0; count < 100_000 && !isReached(); count += 1) {
    write();
    await turns(1);
  }
  expect(isReached()).toBe(true);
}

test('no thread is started until there is something to copy', async () => {
  write();
  expect(checkpointer.worker).toBeUndefined();
  await checkpointer.end();
});

test('the log is copied and begun anew while writing goes on, so that it stays short', async () => {
  let restarts = 0;
  let last = 0;
  await writeUntil(() => {
    const { log } = frames();
    if (log < last) restarts += 1;
    last = log;
    return restarts >= 3;
  });
});

test('the end copies what is left and empties the log', async () => {
  await writeUntil(() => checkpointer.worker !== undefined);
  for (let count = 0; count < 20; count += 1) write();
  await checkpointer.end();
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(checkpointer.worker).toBeUndefined();
});

test('while a dead worker is not back, SQLite checkpoints by itself', async () => {
  const autocheckpoint = (): unknown => db.pragma('wal_autocheckpoint', { simple: true });
  await writeUntil(() => checkpointer.worker !== undefined);
  expect(autocheckpoint()).toBe(0);
  await checkpointer.worker?.terminate();
  expect(checkpointer.worker).toBeUndefined();
  expect(autocheckpoint()).toBe(1000);
  for (let count = 0; count < 50; count += 1) write();
  expect(checkpointer.worker).toBeUndefined();

  clock.advance(1000);
  const worker = checkpointer.worker as unknown as NonNullable<typeof checkpointer.worker>;
  await once(worker, 'online');
  await turns();
  expect(autocheckpoint()).toBe(0);
  await writeUntil(() => frames().checkpointed > 0 || frames().log === 0);
});
