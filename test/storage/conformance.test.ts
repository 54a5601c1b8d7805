import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'vitest';
import { MemoryStorage, SqliteStorage, type Storage } from '../../src/storage/index.js';
import { storageConformance } from '../../src/testing/storage-conformance.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'runs.db');
}

/** For each kind of storage, what makes objects over one and the same data. */
const kinds: Record<string, () => () => Storage> = {
  memory: () => () => new MemoryStorage(),
  'SQLite in memory': () => () => new SqliteStorage(':memory:'),
  'SQLite file, durability power': () => {
    const path = temporaryFile();
    return () => new SqliteStorage(path);
  },
  'SQLite file, durability process': () => {
    const path = temporaryFile();
    return () => new SqliteStorage(path, { durability: 'process' });
  },
};

describe.each(Object.entries(kinds))('%s', (_, newPlace) => {
  const { capabilities } = newPlace()();
  for (const { name, needs, run } of storageConformance) {
    test.skipIf(needs !== undefined && !capabilities[needs])(name, async () => {
      const over = newPlace();
      await run(async () => {
        const storage = over();
        cleanups.push(() => storage.close());
        await storage.open();
        return storage;
      });
    });
  }
});
