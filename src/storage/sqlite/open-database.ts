import { closeSync, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { type Clock, RunsheetError } from '../../common/index.js';
import { isBusy, isErrorCode } from './errors.js';
import { ownersFile, ownersFolder } from './file-modes.js';
import { assertNoFolder, openFailure } from './open-failure.js';
import { assertOurs, migrate } from './schema.js';

const retryEveryMs = 5;

/**
 * Opens the database, made and migrated where needed, and hands it to `use`. Every failure, also one
 * of `use`, is a `RunsheetError` with code `RS_STORAGE_…`, and leaves no file or folder that was not
 * there before.
 */
export async function openDatabase<T>(
  Database: typeof BetterSqlite3,
  path: string,
  { clock, busyTimeoutMs, trustSchema }: { clock: Clock; busyTimeoutMs: number; trustSchema: boolean },
  use: (db: BetterSqlite3.Database) => T,
): Promise<T> {
  const begin = (db: BetterSqlite3.Database): T => opened(db, path, trustSchema, use);
  if (path === ':memory:') return begin(new Database(path));
  const isNew = !existsSync(path);
  let madeFolder: string | undefined;
  try {
    assertNoFolder(path);
    madeFolder = makeFolder(dirname(path));
    assertNoLinks(path);
    if (isNew) makeFile(path);
    const giveUpAt = clock.monotonic() + busyTimeoutMs;
    for (;;) {
      try {
        return begin(new Database(path, { timeout: 0 }));
      } catch (error) {
        if (!isBusy(error) || clock.monotonic() >= giveUpAt) throw error;
        await new Promise<void>((resolve) => clock.setTimer(retryEveryMs, resolve));
      }
    }
  } catch (error) {
    if (isNew && !isBusy(error)) removeUnused(Database, path);
    if (madeFolder !== undefined) removeEmptyFolders(dirname(path), madeFolder);
    throw openFailure(error, path);
  }
}

function opened<T>(
  db: BetterSqlite3.Database,
  path: string,
  trustSchema: boolean,
  use: (db: BetterSqlite3.Database) => T,
): T {
  try {
    db.pragma('trusted_schema = OFF');
    assertOurs(db, path, trustSchema);
    if (path !== ':memory:') db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 0');
    migrate(db, path, trustSchema);
    return use(db);
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
    if (isErrorCode(error, 'EISDIR', 'EPERM', 'EACCES')) return;
    throw error;
  }
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Makes the empty file of a new database, for its owner alone whatever the umask; SQLite gives `-wal` and `-shm` the mode of
 * their database. Nobody can have locks on a file that is just being made, so that closing it drops none.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ownersFile));
  } catch (error) {
    // Another process was quicker. SQLite says better than the system what is wrong with a path.
    if (!isErrorCode(error, 'EEXIST') && existsSync(dirname(path))) throw error;
  }
}

/**
 * Makes a folder with those around it, for their owner alone, and answers the topmost that was missing. Not by `recursive`: where a folder
 * exists in which none can be made (below /proc), Node 20 tries that for ever.
 */
function makeFolder(path: string): string | undefined {
  const missing: string[] = [];
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, ownersFolder);
    } catch (error) {
      // Another process was quicker.
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
  }
  return missing[0];
}

/** SQLite would write through a link, whose file may be anybody's. */
function assertNoLinks(path: string): void {
  for (const file of [`${path}-wal`, `${path}-shm`, `${path}-journal`]) {
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== false) continue;
    throw new RunsheetError(
      'RS_STORAGE_CORRUPT',
      `${file} is not a file of SQLite but a link or the like; remove it, or restore the database from a backup.`,
    );
  }
}

/** Of a file that did not exist when we began; but another process may have found it meanwhile, and keeps it. */
function removeUnused(Database: typeof BetterSqlite3, path: string): void {
  if (!existsSync(path) || isUsed(Database, path)) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) rmSync(file, { force: true });
}

/** Whether somebody has put something into the database or has it open. In doubt they have. */
function isUsed(Database: typeof BetterSqlite3, path: string): boolean {
  if (statSync(path).size === 0) return false;
  let db: BetterSqlite3.Database | undefined;
  try {
    db = new Database(path, { timeout: 0 });
    // In this mode, unlike in WAL, everybody else who has it open is in the way.
    db.pragma('journal_mode = DELETE');
    db.exec('begin exclusive');
    const tables = db.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[];
    // Its name is in every database.
    return tables.some(
      (table) => table !== 'identity' && db?.prepare(`select 1 from "${table}" limit 1`).get() !== undefined,
    );
  } catch {
    return true;
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
