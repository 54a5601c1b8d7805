import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SqliteStorage } from '../../src/storage/sqlite/index.js';

let folder: string;
let umask: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runsheet-modes-'));
  umask = process.umask();
});

afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

/** The modes of all that an engine at work keeps on disk, in octal. */
async function modesAtWork(path: string): Promise<Record<string, string>> {
  const storage = new SqliteStorage(path);
  await storage.open();
  await storage.registerEngine('one');
  const modes = Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
  await storage.unregisterEngine('one');
  await storage.close();
  return modes;
}

it.each([0o000, 0o002, 0o022, 0o077])('keeps all files for their owner alone under umask %o', async (mask) => {
  process.umask(mask);
  expect(await modesAtWork(join(folder, 'a/b/runs.db'))).toEqual({
    a: '700',
    'a/b': '700',
    'a/b/runs.db': '600',
    'a/b/runs.db-engines': '700',
    'a/b/runs.db-engines/one.lock': '600',
    'a/b/runs.db-shm': '600',
    'a/b/runs.db-wal': '600',
  });
});

it('leaves a database to the group to which its owner has opened it, with all that lies beside it', async () => {
  process.umask(0o022);
  await modesAtWork(join(folder, 'runs.db'));
  chmodSync(join(folder, 'runs.db'), 0o660);
  expect(await modesAtWork(join(folder, 'runs.db'))).toEqual({
    'runs.db': '660',
    'runs.db-engines': '770',
    'runs.db-engines/one.lock': '660',
    'runs.db-shm': '660',
    'runs.db-wal': '660',
  });
});
