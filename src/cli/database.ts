import { existsSync } from 'node:fs';
import type { Storage } from '../storage/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { type Io, pathOf } from './io.js';
import { databaseSetting, namedBy } from './settings.js';

/** Where the runs are kept (see `databaseSetting`). */
export function databasePath(db: string | undefined, io: Io): string {
  const { path } = databaseSetting(db, io);
  if (/^postgres(ql)?:/.test(path)) {
    throw new CommandFailure(exitCodes.usage, 'this version keeps runs in SQLite only; give the path of a file');
  }
  return path === ':memory:' ? path : pathOf(io, path);
}

/** The storage at `databasePath`, not yet opened; made when it is. */
export async function storageOf(db: string | undefined, io: Io): Promise<Storage> {
  const { SqliteStorage } = await import('../storage/index.js');
  return new SqliteStorage(databasePath(db, io));
}

/**
 * Lets `read` work on a database that is there already, and closes it again.
 *
 * @throws CommandFailure (not found) where there is none: looking must not make one
 */
export async function withExistingStorage<T>(
  db: string | undefined,
  io: Io,
  read: (storage: Storage) => Promise<T>,
): Promise<T> {
  const path = databasePath(db, io);
  if (!existsSync(path)) {
    throw new CommandFailure(
      exitCodes.notFound,
      `there is no database ${path}${namedBy(databaseSetting(db, io))}; \`runsheet run\` makes one, --db names another`,
    );
  }
  const storage = await storageOf(db, io);
  await storage.open();
  try {
    return await read(storage);
  } finally {
    await storage.close();
  }
}
