import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { aLeasedRun, anEntry, unitOf } from '../../src/testing/storage-cases/case.js';
import { afterwards, opened, temporaryFile } from './places.js';

const vacuum = `
  import Database from 'better-sqlite3';
  const [path, copy] = process.argv.slice(1);
  new Database(path).prepare('vacuum into ?').run(copy);`;

/** The ways to copy a database that is being written to; each is one consistent state of it. */
const ways: Record<string, (path: string, copy: string) => Promise<unknown>> = {
  'SQLite’s online backup': async (path, copy) => {
    const db = new Database(path, { readonly: true });
    afterwards(() => db.close());
    // A few pages at a time, so that commits come in between. Each commit of another connection makes the backup begin
    // anew, so that it must come to its end in one stride while they go on without a pause.
    let strides = 0;
    await db.backup(copy, { progress: () => ((strides += 1) < 5 ? 4 : 1_000_000) });
  },
  // In a process of its own, as it would hold up the commits of this one.
  'VACUUM INTO': (path, copy) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', vacuum, path, copy]),
};

test.each(Object.entries(ways))('%s, taken while commits go on, opens and is consistent', async (_, backUp) => {
  const path = temporaryFile();
  const storage = await opened(new SqliteStorage(path, { durability: 'process' }));
  const runs = await Promise.all(Array.from({ length: 4 }, () => aLeasedRun(storage)));
  let seq = 0;
  const commit = async (): Promise<void> => {
    seq += 1;
    // The same entry in every run, in one transaction.
    const units = runs.map((run) => unitOf(run, { entries: [anEntry(seq, { payload: `"${'x'.repeat(500)}"` })] }));
    expect(await storage.commitUnits(units)).toEqual(runs.map(() => 'committed'));
  };
  for (let count = 0; count < 200; count += 1) await commit();
  const atBegin = seq;
  const copyPath = join(path, '..', 'copy.db');
  let isDone = false;
  const backup = backUp(path, copyPath).finally(() => (isDone = true));
  do await commit();
  while (!isDone);
  await backup;
  for (let count = 0; count < 20; count += 1) await commit();

  const check = new Database(copyPath);
  expect(check.pragma('integrity_check', { simple: true })).toBe('ok');
  check.close();
  const copy = await opened(new SqliteStorage(copyPath));
  const journals = await Promise.all(runs.map(({ run }) => copy.readJournal(run, 0, Infinity)));
  const lengths = new Set(journals.map((journal) => journal.length));
  expect(lengths.size, 'a unit of several runs is there whole or not at all').toBe(1);
  const [length = 0] = lengths;
  expect(length).toBeGreaterThanOrEqual(atBegin);
  expect(length).toBeLessThan(seq);
  // It goes on where the original was: death is not proved by a copy, so that expiry decides.
  expect(await copy.releaseDeadEngines(0)).toEqual([]);
  expect((await copy.listRuns({})).runs.map(({ owner }) => owner)).toEqual(runs.map(() => 'engine-a'));
  expect(await copy.commitUnits(runs.map((run) => unitOf(run, { entries: [anEntry(length + 1)] })))).toEqual(
    runs.map(() => 'committed'),
  );
  expect((await storage.readJournal(runs[0]?.run ?? 0, 0, Infinity)).length).toBe(seq);
});
