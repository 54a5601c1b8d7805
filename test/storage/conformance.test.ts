import { describe, test } from 'vitest';
import { MemoryStorage, SqliteStorage, type Storage } from '../../src/storage/index.js';
import { storageConformance } from '../../src/testing/storage-conformance.js';
import { opened, temporaryFile } from './places.js';

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
      await run(() => opened(over()));
    });
  }
});
