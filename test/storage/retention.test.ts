import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { MemoryStorage, SqliteStorage } from '../../src/storage/index.js';
import { aLeasedRun, aRun, anEnd, anEntry, end, now, unitOf } from '../../src/testing/storage-cases/case.js';
import { interruptionDelayMs, suspectAfter } from '../../src/storage/run-rules.js';
import { migrate } from '../../src/storage/sqlite/schema.js';
import { afterwards, opened, temporaryFile } from './places.js';

const all = { endedBefore: now, limit: 100_000 };

/** So many runs of one tree, each with some entries, written past the storage so that it is quick. */
async function aLargeTree(path: string, children: number, entries: number): Promise<void> {
  const storage = await opened(new SqliteStorage(path, { durability: 'process' }));
  const root = await aLeasedRun(storage);
  await storage.commitUnits([unitOf(root, { entries: [anEntry(1)] })]);
  await end(storage, root);
  await storage.close();
  const db = new Database(path);
  const insertRun = db.prepare(
    `insert into run (id, workflow, revision, definition_hash, status, input, created_at, ended_at, epoch, inbox_seq,
       parent_id, parent_step, parent_occurrence)
     values (?, 'mail', 1, 'hash-mail-1', 'completed', '{}', ?, ?, 1, 1, ?, 'ship', ?)`,
  );
  const insertEntry = db.prepare(
    `insert into journal (run, seq, kind, at, payload) values (?, ?, 'step-completed', ?, ?)`,
  );
  const insertMessage = db.prepare(`insert into inbox (run, seq, kind, at) values (?, 1, 'signal', ?)`);
  db.transaction(() => {
    for (let index = 0; index < children; index += 1) {
      const { lastInsertRowid } = insertRun.run(`wf_child_${index}`, now, now, root.id, String(index));
      for (let seq = 1; seq <= entries; seq += 1) insertEntry.run(lastInsertRowid, seq, now, '{}');
      insertMessage.run(lastInsertRowid, now);
    }
  })();
  db.close();
}

function countAll(path: string): Record<string, unknown> {
  const db = new Database(path, { readonly: true });
  const count = (table: string) => db.prepare(`select count(*) from ${table}`).pluck().get();
  const counts = Object.fromEntries(['run', 'journal', 'inbox', 'removal'].map((table) => [table, count(table)]));
  db.close();
  return counts;
}

test('no transaction of a clean-up or of archiving touches more than 5,000 rows', async () => {
  const path = temporaryFile();
  await aLargeTree(path, 6000, 2);
  const storage = await opened(new SqliteStorage(path, { durability: 'process' }));
  const watcher = new Database(path, { readonly: true });
  afterwards(() => watcher.close());
  const seen: number[] = [];
  const rowsOf = watcher
    .prepare(
      `select (select count(*) from run where archived_at is null) + (select count(*) from run) + (select count(*) from journal)
       + (select count(*) from inbox)`,
    )
    .pluck();
  const version = watcher.prepare('pragma data_version').pluck();
  // Each commit is looked at before the next, since there is a pause between them.
  let last: unknown;
  let isDone = false;
  const watch = async (): Promise<void> => {
    while (!isDone) {
      const current = version.get();
      if (current !== last) seen.push(rowsOf.get() as number);
      last = current;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const watching = watch();
  expect(await storage.archive(all, now)).toBe(6001);
  expect(await storage.countArchived()).toBe(6001);
  expect(await storage.cleanup(all)).toBe(6001);
  isDone = true;
  await watching;
  const steps = seen.slice(1).map((rows, index) => (seen[index] ?? rows) - rows);
  expect(steps.length).toBeGreaterThan(20);
  expect(Math.max(...steps)).toBeLessThanOrEqual(5000);
  expect(countAll(path)).toEqual({ run: 0, journal: 0, inbox: 0, removal: 0 });
});

test('a clean-up that died in the middle is finished by the next', async () => {
  const path = temporaryFile();
  await aLargeTree(path, 2500, 3);
  const dying = await opened(new SqliteStorage(path, { durability: 'process' }));
  const stopped = expect(dying.cleanup(all)).rejects.toMatchObject({ code: 'RS_ENGINE_STOPPED' });
  // After the first transaction.
  while ((countAll(path).removal as number) === 0) await new Promise((resolve) => setImmediate(resolve));
  await dying.close();
  await stopped;
  const left = countAll(path);
  expect(left.removal).toBeGreaterThan(0);
  expect(left.run).toBeGreaterThan(0);

  const storage = await opened(new SqliteStorage(path, { durability: 'process' }));
  expect(await storage.getRun('wf_child_2499')).toBeDefined();
  expect(await storage.cleanup(all)).toBe(left.run);
  expect(countAll(path)).toEqual({ run: 0, journal: 0, inbox: 0, removal: 0 });
});

test('a failed run that is resumed while a clean-up looks at it keeps its children', async () => {
  for (let round = 0; round < 20; round += 1) {
    const storage = await opened(new SqliteStorage(temporaryFile(), { durability: 'process' }));
    const parent = await aLeasedRun(storage);
    const child = await aLeasedRun(storage, { parent: { id: parent.id, step: 'ship', occurrence: '0' } });
    await end(storage, child);
    await end(storage, parent, { status: 'failed' });
    const cleanup = storage.cleanup(all);
    for (let turn = 0; turn < round % 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const heir = await storage.resumeRun({ from: parent.id, run: aRun(), entries: [] });
    const count = await cleanup;
    expect(count).toBe(heir === undefined ? 2 : 0);
    expect((await storage.getRun(child.id)) === undefined).toBe(heir === undefined);
    await storage.close();
  }
});

test('other storages get the lock while a clean-up goes on', async () => {
  const path = temporaryFile();
  await aLargeTree(path, 5000, 4);
  const [cleaner, other] = [
    await opened(new SqliteStorage(path, { durability: 'process' })),
    await opened(new SqliteStorage(path, { durability: 'process' })),
  ];
  const run = await aLeasedRun(other);
  let isDone = false;
  const cleanup = cleaner.cleanup(all).finally(() => (isDone = true));
  let commits = 0;
  do {
    commits += 1;
    expect(await other.commitUnits([unitOf(run, { entries: [anEntry(commits)] })])).toEqual(['committed']);
  } while (!isDone);
  expect(await cleanup).toBe(5001);
  expect(commits).toBeGreaterThan(10);
});

test('the schema’s suspects are those of the rule', () => {
  const db = new Database(':memory:');
  afterwards(() => db.close());
  migrate(db, ':memory:');
  const insert = db.prepare(
    `insert into run (id, workflow, revision, definition_hash, status, input, created_at, epoch, inbox_seq, interruptions)
     values (?, 'mail', 1, 'h', 'pending', '{}', 0, 0, 0, ?) returning suspect`,
  );
  const suspects = [0, suspectAfter - 1, suspectAfter, suspectAfter + 9].map((count) =>
    insert.pluck().get(`wf_${count}`, count),
  );
  expect(suspects).toEqual([0, 0, 1, 1]);
  expect([0, 1, 2, 3, 8, 9, 5000].map(interruptionDelayMs)).toEqual([0, 0, 4000, 8000, 256_000, 300_000, 300_000]);
});

test('a memory storage gives back what it removed', async () => {
  const storage = await opened(new MemoryStorage());
  const ended = await aLeasedRun(storage);
  await storage.commitUnits([unitOf(ended, { entries: [anEntry(1)], transition: anEnd() })]);
  expect(await storage.cleanup(all)).toBe(1);
  expect(await storage.readJournal(ended.run, 0, 10)).toEqual([]);
  expect(await storage.listRuns({})).toEqual({ runs: [] });
});
