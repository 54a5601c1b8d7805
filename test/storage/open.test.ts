import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { assertOurs, migrate, schemaVersion } from '../../src/storage/sqlite/schema.js';
import { aRun, claim } from '../../src/testing/storage-cases/case.js';
import { HastyClock, ManualClock, turns } from './clocks.js';
import { afterwards, opened, temporaryFile, temporaryFolder } from './places.js';
import { asOrdinaryUser } from '../support/ordinary-user.js';

describe('opening', () => {
  test('a database that another process is just making takes it for no other program’s', () => {
    const path = temporaryFile();
    const [ours, theirs] = [new Database(path), new Database(path)];
    afterwards(() => [ours, theirs].forEach((db) => db.close()));
    ours.pragma('journal_mode = WAL');
    const read = ours.pragma.bind(ours);
    ours.pragma = (...asked) => {
      const answer: unknown = read(...asked);
      if (asked[0] === 'application_id' && read('user_version', { simple: true }) === 0) migrate(theirs, path);
      return answer;
    };
    assertOurs(ours, path);
    expect(read('user_version', { simple: true })).toBe(schemaVersion);
  });

  test('makes the folders and the file, and leaves one file when it is closed', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'deep', 'er', 'runs.db');
    const storage = await opened(new SqliteStorage(path));
    await storage.open();
    const { run } = await storage.enqueueRun(aRun());
    await storage.close();
    expect(readdirSync(join(folder, 'deep', 'er'))).toEqual(['runs.db']);
    await storage.open();
    expect(await storage.getRun(run.id)).toEqual(run);
  });

  test('at the same time from many sides makes one database', async () => {
    const path = temporaryFile();
    const storages = await Promise.all(Array.from({ length: 6 }, () => opened(new SqliteStorage(path))));
    await Promise.all(storages.map((storage) => storage.enqueueRun(aRun({ key: 'k' }))));
    expect((await storages[0]?.listRuns({}))?.runs.length).toBe(1);
  });

  test('takes an empty file', async () => {
    const path = temporaryFile();
    writeFileSync(path, '');
    expect(await claim(await opened(new SqliteStorage(path)))).toEqual([]);
  });
});

describe('a database of version 1', () => {
  test('is brought to the newest, with what is in it', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    const { run } = await storage.enqueueRun(aRun());
    await storage.close();
    const database = new Database(path);
    const schema = (): unknown => database.prepare('select name, sql from sqlite_schema order by name').all();
    const newest = schema();
    database.exec('drop index run_suspect; alter table run drop column queued_at; drop table identity');
    database.pragma('user_version = 1');
    migrate(database, path);
    expect(schema()).toEqual(newest);
    expect(database.pragma('user_version', { simple: true })).toBe(schemaVersion);
    database.close();
    await storage.open();
    expect(await storage.getRun(run.id)).toEqual(run);
  });
});

describe('an error of opening names the file and the remedy, and leaves nothing behind', () => {
  async function expectRefused(path: string, code: string, message: RegExp): Promise<void> {
    const storage = new SqliteStorage(path, { clock: new HastyClock() });
    const error: unknown = await storage.open().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'RunsheetError', code });
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(path);
    await storage.close();
  }

  test('a folder', async () => {
    const folder = temporaryFolder();
    await expectRefused(folder, 'RS_STORAGE_FAILED', /is a folder; give the path of a file/);
  });

  test.runIf(existsSync('/proc/self'))('a place where no folder can be made, at once', async () => {
    await expectRefused('/proc/runsheet/data/runs.db', 'RS_STORAGE_FAILED', /check that the path is right/);
  });

  test('a file that is no database', async () => {
    const path = temporaryFile();
    writeFileSync(path, 'id;amount\n'.repeat(1000));
    const before = statSync(path).size;
    await expectRefused(path, 'RS_STORAGE_CORRUPT', /not a SQLite database, or it is damaged; restore a backup/);
    expect(statSync(path).size).toBe(before);
    expect(readdirSync(join(path, '..'))).toEqual(['runs.db']);
  });

  test('a database cut short', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    for (let index = 0; index < 50; index += 1) await storage.enqueueRun(aRun({ input: `"${'x'.repeat(5000)}"` }));
    await storage.close();
    writeFileSync(path, readFileSync(path).subarray(0, 4096));
    await expectRefused(path, 'RS_STORAGE_CORRUPT', /damaged/);
  });

  test('another program’s database', async () => {
    const path = temporaryFile();
    const other = new Database(path);
    other.exec('create table bookmarks (url text)');
    other.close();
    await expectRefused(path, 'RS_STORAGE_CORRUPT', /of another program; choose another file/);
    const again = new Database(path);
    expect(again.pragma('journal_mode', { simple: true })).toBe('delete');
    again.close();
  });

  test('a newer Runsheet’s database', async () => {
    const path = temporaryFile();
    await (await opened(new SqliteStorage(path))).close();
    const newer = new Database(path);
    newer.pragma(`user_version = ${schemaVersion + 1}`);
    newer.close();
    await expectRefused(
      path,
      'RS_STORAGE_TOO_NEW',
      new RegExp(`has version ${schemaVersion + 1}.*use a newer Runsheet`),
    );
  });

  test('a database that another program has locked is not waited for without end', async () => {
    const path = temporaryFile();
    await (await opened(new SqliteStorage(path))).close();
    const other = new Database(path);
    afterwards(() => other.close());
    other.pragma('locking_mode = EXCLUSIVE');
    other.exec('begin exclusive');
    await expectRefused(path, 'RS_STORAGE_BUSY', /locked by another program; close that program/);
    expect(existsSync(path)).toBe(true);
  });

  test('a file or a folder that cannot be written', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'runs.db');
    await (await opened(new SqliteStorage(path))).close();
    chmodSync(folder, 0o755);
    chmodSync(path, 0o444);
    await asOrdinaryUser(async () => {
      await expectRefused(path, 'RS_STORAGE_READ_ONLY', /cannot be written; give this user write permission/);
    });
    chmodSync(path, 0o666);
    chmodSync(folder, 0o555);
    await asOrdinaryUser(async () => {
      await expectRefused(path, 'RS_STORAGE_READ_ONLY', /cannot be written/);
      await expectRefused(join(folder, 'new.db'), 'RS_STORAGE_READ_ONLY', /cannot be written/);
      await expectRefused(join(folder, 'sub', 'new.db'), 'RS_STORAGE_READ_ONLY', /cannot be written/);
    });
    expect(readdirSync(folder)).toEqual(['runs.db']);
    chmodSync(folder, 0o755);
  });

  test('a path through a file', async () => {
    const file = temporaryFile();
    writeFileSync(file, '');
    await expectRefused(join(file, 'runs.db'), 'RS_STORAGE_FAILED', /check that the path is right.*ENOTDIR/);
  });

  test('a sync that fails at once takes the new file and its folders away again', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a', 'b', 'runs.db');
    const broken = {
      start: () => undefined,
      now: () => {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      },
    };
    await expect(new SqliteStorage(path, { fileSync: broken }).open()).rejects.toMatchObject({
      code: 'RS_STORAGE_FULL',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('while it is open', () => {
  test('a transaction of another program holds up no read, and a write no longer than the limit', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path, { clock: new HastyClock(), busyTimeoutMs: 100 }));
    const { run } = await storage.enqueueRun(aRun());
    const other = new Database(path);
    afterwards(() => other.close());
    other.exec('begin immediate');
    expect(await storage.getRun(run.id)).toEqual(run);
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject({ code: 'RS_STORAGE_BUSY' });
    other.exec('commit');
    expect((await storage.enqueueRun(aRun())).created).toBe(true);
  });

  test('a sync that fails fences the storage: nothing more is acknowledged', async () => {
    let fails = false;
    const failing = {
      start: (_fd: number, done: (error: Error | null) => void) =>
        setImmediate(done, fails ? Object.assign(new Error('i/o error'), { code: 'EIO' }) : null),
      now: () => undefined,
    };
    const storage = await opened(new SqliteStorage(temporaryFile(), { fileSync: failing }));
    await storage.enqueueRun(aRun());
    fails = true;
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject({ code: 'RS_STORAGE_FAILED' });
    fails = false;
    const fenced = {
      code: 'RS_STORAGE_LOST',
      message: expect.stringContaining('could not be made durable') as string,
    };
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject(fenced);
    await expect(claim(storage)).rejects.toMatchObject(fenced);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ['the file is removed', (path) => rmSync(path), /runs\.db was removed or replaced/],
    [
      'another file is put in its place',
      (path) => {
        copyFileSync(path, `${path}-copy`);
        renameSync(`${path}-copy`, path);
      },
      /runs\.db was removed or replaced/,
    ],
    ['the folder is removed', (path) => rmSync(dirname(path), { recursive: true }), /runs\.db was removed or replaced/],
    ['its index of the log is removed', (path) => rmSync(`${path}-shm`), /runs\.db-shm was removed or replaced/],
    ['its log is removed', (path) => rmSync(`${path}-wal`), /runs\.db-wal was removed or replaced/],
  ])('nothing more is written once %s, and who listens is told', async (_, harm, says) => {
    const path = join(temporaryFolder(), 'data', 'runs.db');
    const clock = new ManualClock();
    const storage = await opened(new SqliteStorage(path, { clock }));
    let told = 0;
    storage.onForeignChange(() => (told += 1));
    await storage.enqueueRun(aRun());
    clock.advance(1000);
    await turns();
    expect(told).toBe(0);
    harm(path);
    clock.advance(1000);
    await turns();
    expect(told).toBe(1);
    const refused = { code: 'RS_STORAGE_LOST', message: expect.stringMatching(says) as string };
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject(refused);
    await expect(claim(storage)).rejects.toMatchObject(refused);
  });

  test('nothing more is written once a newer Runsheet has migrated it', async () => {
    const path = temporaryFile();
    const storage = await opened(new SqliteStorage(path));
    const { run } = await storage.enqueueRun(aRun());
    const newer = new Database(path);
    afterwards(() => newer.close());
    newer.pragma(`user_version = ${schemaVersion + 1}`);
    const refused = { code: 'RS_STORAGE_LOST', message: expect.stringContaining('another version') as string };
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject(refused);
    await expect(claim(storage)).rejects.toMatchObject(refused);
    expect(newer.prepare('select id from run').pluck().all()).toEqual([run.id]);
    newer.exec('begin immediate; rollback');
  });

  test('what is written after that is not acknowledged either where nobody listens', async () => {
    const path = temporaryFile();
    const clock = new ManualClock();
    const storage = await opened(new SqliteStorage(path, { clock }));
    await storage.enqueueRun(aRun());
    rmSync(path);
    clock.advance(1000);
    await expect(storage.enqueueRun(aRun())).rejects.toMatchObject({ code: 'RS_STORAGE_LOST' });
  });

  test('closing acknowledges what is committed and rejects what is not', async () => {
    const never = { start: () => undefined, now: () => undefined };
    const storage = await opened(new SqliteStorage(temporaryFile(), { fileSync: never }));
    const committed = storage.enqueueRun(aRun());
    await new Promise((resolve) => setImmediate(resolve));
    const queued = expect(storage.enqueueRun(aRun())).rejects.toMatchObject({ code: 'RS_ENGINE_STOPPED' });
    await storage.close();
    expect((await committed).created).toBe(true);
    await queued;
  });
});
