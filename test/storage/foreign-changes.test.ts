import Database from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { ForeignChanges } from '../../src/storage/sqlite/foreign-changes.js';
import { ManualClock, turns } from './clocks.js';
import { afterwards, temporaryFile } from './places.js';

let clock: ManualClock;
let own: Database.Database;
let other: Database.Database;
let changes: ForeignChanges;
let told: number;

beforeEach(() => {
  clock = new ManualClock();
  const path = temporaryFile();
  [own, other] = [new Database(path, { timeout: 0 }), new Database(path, { timeout: 0 })];
  afterwards(() => own.close());
  afterwards(() => other.close());
  own.pragma('journal_mode = WAL');
  own.exec('create table note (text)');
  changes = new ForeignChanges(own, clock, undefined);
  told = 0;
});

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await turns(1);
}

test('what another connection commits is told of within 20 ms, many commits as one change', async () => {
  changes.add(() => (told += 1));
  for (const text of ['a', 'b', 'c']) other.prepare('insert into note values (?)').run(text);
  await pass(19);
  expect(told).toBe(0);
  await pass(1);
  expect(told).toBe(1);
  await pass(1000);
  expect(told).toBe(1);
});

test('neither own commits, nor what was there before, nor a checkpoint is told of', async () => {
  other.exec(`insert into note values ('before')`);
  changes.add(() => (told += 1));
  own.exec(`insert into note values ('own')`);
  await pass(20);
  other.pragma('wal_checkpoint(PASSIVE)');
  other.pragma('wal_checkpoint(RESTART)');
  await pass(20);
  expect(told).toBe(0);
});

test('it is looked for only while somebody listens', async () => {
  expect(clock.pendingTimers).toBe(0);
  const end1 = changes.add(() => (told += 1));
  const end2 = changes.add(() => (told += 10));
  expect(clock.pendingTimers).toBe(1);
  end1();
  end1();
  other.exec(`insert into note values ('a')`);
  await pass(20);
  expect(told).toBe(10);
  end2();
  expect(clock.pendingTimers).toBe(0);
  changes.add(() => (told += 1));
  changes.close();
  expect(clock.pendingTimers).toBe(0);
});
