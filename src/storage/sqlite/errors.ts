import { type ErrorCode, RunsheetError } from '../../common/index.js';

/** The `code` of an error from SQLite (`SQLITE_BUSY` …) or from the file system (`ENOSPC` …). */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether the file system or SQLite gave one of these codes. */
export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error));
}

/** Another connection is in the way; trying again later may well succeed. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(codeOf(error));
}

const kinds: readonly { codes: RegExp; code: ErrorCode; says: (path: string) => string }[] = [
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    code: 'RS_STORAGE_BUSY',
    says: (path) =>
      `${path} is locked by another program; close that program (for example a database browser), then try again.`,
  },
  {
    codes: /^EROFS/,
    code: 'RS_STORAGE_READ_ONLY',
    says: (path) =>
      `${path} cannot be written: its file system is mounted read-only; mount it for writing, or use a database elsewhere.`,
  },
  {
    codes: /^(SQLITE_(READONLY|PERM)|EACCES|EPERM)/,
    code: 'RS_STORAGE_READ_ONLY',
    says: (path) => `${path} cannot be written; give this user write permission on the file and its folder.`,
  },
  {
    codes: /^SQLITE_(NOTADB|CORRUPT)/,
    code: 'RS_STORAGE_CORRUPT',
    says: (path) => `${path} is not a SQLite database, or it is damaged; restore a backup or choose another file.`,
  },
  {
    // On a full disk SQLite reports the growth of its -shm file, and some writes, as I/O errors.
    codes: /^(SQLITE_(FULL|IOERR_(WRITE|SHMSIZE|SHMOPEN|TRUNCATE))|ENOSPC|EDQUOT)/,
    code: 'RS_STORAGE_FULL',
    says: (path) => `${path} cannot grow: the disk is full; free some space, then try again.`,
  },
  {
    codes: /^(SQLITE_IOERR|EIO$)/,
    code: 'RS_STORAGE_FAILED',
    says: (path) =>
      `${path} could not be read or written; check the disk. If a file beside it (-wal, -shm) was removed, stop everything that uses the database, then try again.`,
  },
  {
    codes: /^(SQLITE_CANTOPEN|ENOTDIR|ENOENT|ENAMETOOLONG|ELOOP)/,
    code: 'RS_STORAGE_FAILED',
    says: (path) => `${path} cannot be opened; check that the path is right and leads through folders only.`,
  },
];

/** What the caller gets to see of any error met at this database: a `RunsheetError` with the original as its cause. */
export function storageError(error: unknown, path: string): RunsheetError {
  if (error instanceof RunsheetError) return error;
  const code = codeOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  const kind = kinds.find(({ codes }) => codes.test(code));
  return new RunsheetError(
    kind?.code ?? 'RS_STORAGE_FAILED',
    `${kind?.says(path) ?? `The database ${path} failed.`} (${code === '' || detail.startsWith(code) ? detail : `${code}: ${detail}`})`,
    { cause: error },
  );
}
