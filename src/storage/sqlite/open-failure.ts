import { randomUUID } from 'node:crypto';
import { accessSync, closeSync, constants, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RunsheetError } from '../../common/index.js';
import { storageError } from './errors.js';

/** @throws RunsheetError `RS_STORAGE_FAILED` where a folder stands in the place of the database */
export function assertNoFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw new RunsheetError('RS_STORAGE_FAILED', `${path} is a folder; give the path of a file for the database.`);
}

/** SQLite says "cannot open" for lack of permission, too; the system is asked what it has against it. */
export function openFailure(error: unknown, path: string): RunsheetError {
  const isCannotOpen = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CANTOPEN');
  if (!isCannotOpen) return storageError(error, path);
  return writeRefusal(path) ?? storageError(error, path);
}

/** access(2) answers for the user who started the process; it may act as another one. */
function assertWritable(file: string): void {
  accessSync(file, constants.R_OK | constants.W_OK);
  const user = process.geteuid?.();
  if (user === 0 || user === process.getuid?.()) return;
  const { mode, uid, gid } = statSync(file);
  const shift = uid === user ? 6 : gid === process.getegid?.() ? 3 : 0;
  const isWritable = ((mode >> shift) & 0o6) === 0o6;
  if (!isWritable) throw Object.assign(new Error(`EACCES: permission denied, ${file}`), { code: 'EACCES' });
}

/**
 * Why a database, which may be still to be made, cannot be written; undefined where nothing is in the way. Its files are
 * not opened: closing them would drop the locks that SQLite has on them in this process, if it has the database open.
 */
export function writeRefusal(path: string): RunsheetError | undefined {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    // SQLite keeps two files beside it, so that the folder matters too.
    const probe = join(folder, `${basename(path)}-probe-${randomUUID()}`);
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      if (existsSync(file)) assertWritable(file);
    }
    return undefined;
  } catch (denied) {
    return storageError(denied, path);
  }
}
