import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { type Clock, RunsheetError } from '../../common/index.js';
import { isBusy, storageError } from './errors.js';
import { assertOurs, migrate } from './schema.js';

const retryEveryMs = 5;

/**
 * Opens the database, made and migrated where needed, ready for use. Every failure is a
 * `RunsheetError` with code `RS_STORAGE_…`, and leaves no file or folder that was not there before.
 */
export async function openDatabase(
  Database: typeof BetterSqlite3,
  path: string,
  { clock, busyTimeoutMs }: { clock: Clock; busyTimeoutMs: number },
): Promise<BetterSqlite3.Database> {
  if (path === ':memory:') return opened(new Database(path), path);
  if (isFolder(path)) {
    throw new RunsheetError('RS_STORAGE_FAILED', `${path} is a folder; give the path of a file for the database.`);
  }
  const isNew = !existsSync(path);
  let madeFolder: string | undefined;
  try {
    madeFolder = mkdirSync(dirname(path), { recursive: true });
    const giveUpAt = clock.monotonic() + busyTimeoutMs;
    for (;;) {
      try {
        return opened(new Database(path, { timeout: 0 }), path);
      } catch (error) {
        if (!isBusy(error) || clock.monotonic() >= giveUpAt) throw error;
        await new Promise<void>((resolve) => clock.setTimer(retryEveryMs, resolve));
      }
    }
  } catch (error) {
    if (isNew && !isBusy(error)) removeUnused(Database, path);
    if (madeFolder !== undefined) removeEmptyFolders(dirname(path), madeFolder);
    throw explained(error, path);
  }
}

function opened(db: BetterSqlite3.Database, path: string): BetterSqlite3.Database {
  try {
    assertOurs(db, path);
    if (path !== ':memory:') db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 0');
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Makes the names in a folder durable. SQLite would do it for the log at its own first sync, but with
 * `synchronous = NORMAL` that may come long after the first commit.
 */
export function syncFolder(folder: string): void {
  let fd: number;
  try {
    fd = openSync(folder, 'r');
  } catch (error) {
    // Where folders cannot be opened (Windows) their entries are durable with the files.
    if (error instanceof Error && 'code' in error && /^(EISDIR|EPERM|EACCES)$/.test(String(error.code))) return;
    throw error;
  }
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Of a file that did not exist when we began; but another process may have succeeded in making it meanwhile. */
function removeUnused(Database: typeof BetterSqlite3, path: string): void {
  if (!existsSync(path) || isInUse(Database, path)) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) rmSync(file, { force: true });
}

function isInUse(Database: typeof BetterSqlite3, path: string): boolean {
  let db: BetterSqlite3.Database | undefined;
  try {
    db = new Database(path, { timeout: 0, readonly: true });
    return (db.pragma('user_version', { simple: true }) as number) > 0;
  } catch (error) {
    return isBusy(error);
  } finally {
    db?.close();
  }
}

function removeEmptyFolders(deepest: string, topmost: string): void {
  for (let folder = deepest; folder.length >= topmost.length; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      // Something is in it, so that somebody else uses it now: the error of the opening is what matters.
      return;
    }
  }
}

/** SQLite says "cannot open" for a folder that cannot be written, too. */
function explained(error: unknown, path: string): RunsheetError {
  const isCannotOpen = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CANTOPEN');
  if (isCannotOpen) {
    try {
      accessSync(dirname(path), constants.W_OK);
    } catch (denied) {
      return storageError(denied, path);
    }
  }
  return storageError(error, path);
}
