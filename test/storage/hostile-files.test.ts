import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { aRun } from '../../src/testing/storage-cases/case.js';
import { ManualClock, turns } from './clocks.js';
import { afterwards, opened, temporaryFile, temporaryFolder } from './places.js';

async function aDatabase(): Promise<string> {
  const path = temporaryFile();
  const storage = await opened(new SqliteStorage(path));
  await storage.enqueueRun(aRun());
  await storage.close();
  return path;
}

function alter(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

describe('files in the folder of locks', () => {
  test.each<[string, (folder: string, path: string) => void]>([
    ['a name that no engine makes', (folder) => writeFileSync(join(folder, '100%.lock'), '')],
    ['a link that leads nowhere', (folder) => symlinkSync('nowhere', join(folder, 'x.lock'))],
    ['a link to another database', (folder, path) => symlinkSync(path, join(folder, 'x.lock'))],
    ['a folder', (folder) => mkdirSync(join(folder, 'x.lock'))],
    ['a file with something in it', (folder) => writeFileSync(join(folder, 'x.lock'), 'not a lock')],
  ])('that are no locks keep nobody from anything: %s', async (_, put) => {
    const path = await aDatabase();
    const other = await aDatabase();
    mkdirSync(`${path}-engines`);
    put(`${path}-engines`, other);
    const clock = new ManualClock();
    const storage = await opened(new SqliteStorage(path, { clock }));
    await storage.registerEngine('mine');
    const dead = await opened(new SqliteStorage(path));
    await dead.registerEngine('dead');
    await dead.close();
    let told = 0;
    storage.onEngineDeath(() => (told += 1));
    for (let look = 0; look < 3; look += 1) {
      clock.advance(1000);
      await turns();
    }
    expect(told).toBeGreaterThan(0);
    expect(await storage.releaseDeadEngines(0)).toEqual([]);
    expect(readdirSync(`${path}-engines`)).not.toContain('dead.lock');
    expect((await storage.survey('mine', [], 0)).othersAlive).toBe(false);
    const db = new Database(other);
    afterwards(() => db.close());
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
  });

  test('where there is a file instead of the folder, the watch for the dead goes on', async () => {
    const path = await aDatabase();
    const clock = new ManualClock();
    const storage = await opened(new SqliteStorage(path, { clock }));
    writeFileSync(`${path}-engines`, '');
    storage.onEngineDeath(() => undefined);
    clock.advance(2000);
    await turns();
    expect((await storage.enqueueRun(aRun())).created).toBe(true);
  });
});

describe('a database from elsewhere', () => {
  test.each<[string, string, RegExp]>([
    [
      'a trigger',
      `create trigger forge after insert on journal begin update run set output = '"forged"'; end`,
      /a trigger `forge`/,
    ],
    ['a view', `create view v as select 1`, /a view `v`/],
    ['a view in the place of a table', `drop table inbox; create view inbox as select 1 as run`, /a view `inbox`/],
    ['a virtual table', `create virtual table words using fts5(a)`, /a table `words`/],
    ['an index of a table of ours', `create index slow on run (input || output)`, /an? index `slow`/],
    ['a column', `alter table run add column more text`, /a table `run`/],
    ['no index', `drop index run_due`, /no index `run_due`/],
  ])('is refused where it has %s', async (_, sql, says) => {
    const path = await aDatabase();
    alter(path, sql);
    const message = expect.stringMatching(says) as string;
    await expect(new SqliteStorage(path).open()).rejects.toMatchObject({ code: 'RS_STORAGE_CORRUPT', message });
  });

  test('may have tables of programs that copy it, and statistics', async () => {
    const path = await aDatabase();
    alter(path, 'create table _copier_seq (id integer primary key, seq integer); analyze');
    const storage = await opened(new SqliteStorage(path));
    expect((await storage.listRuns({})).runs.length).toBe(1);
  });

  test('whose log is a link is refused, and what it leads to not touched', async () => {
    const path = await aDatabase();
    const target = join(temporaryFolder(), 'precious');
    writeFileSync(target, 'mine');
    symlinkSync(target, `${path}-wal`);
    await expect(new SqliteStorage(path).open()).rejects.toMatchObject({ code: 'RS_STORAGE_CORRUPT' });
    expect(statSync(target).size).toBe(4);
  });
});
