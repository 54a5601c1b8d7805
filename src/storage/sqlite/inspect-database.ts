import { existsSync, statSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { assertNoFolder, openFailure } from './open-failure.js';
import { assertOurs, schemaVersion } from './schema.js';

/** What can be told of a database file without changing it. */
export interface DatabaseState {
  readonly version: number;
  /** What this Runsheet would bring it to (`migrate`). */
  readonly newestVersion: number;
  readonly bytes: number;
  /** Of the write-ahead log: what the next checkpoint has to copy. */
  readonly walBytes: number;
  /** What `PRAGMA integrity_check` finds, the first ten; empty: sound. */
  readonly faults: readonly string[];
  /** Epoch milliseconds of the newest thing written down; null in an empty database. */
  readonly newestAt: number | null;
}

/**
 * Looks at a database file that exists.
 *
 * @throws RunsheetError `RS_STORAGE_…` if it cannot be read, is another program's or of a newer version
 */
export async function inspectDatabase(path: string): Promise<DatabaseState> {
  const { default: Database } = (await import('better-sqlite3')) as { default: typeof BetterSqlite3 };
  assertNoFolder(path);
  let db: BetterSqlite3.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    db.pragma('trusted_schema = OFF');
    assertOurs(db, path);
    const version = db.pragma('user_version', { simple: true }) as number;
    const report = (db.pragma('integrity_check(10)') as { integrity_check: string }[]).map(
      (row) => row.integrity_check,
    );
    return {
      version,
      newestVersion: schemaVersion,
      bytes: statSync(path).size,
      walBytes: existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0,
      faults: report.filter((line) => line !== 'ok'),
      newestAt: version === 0 ? null : (db.prepare('select max(created_at) from run').pluck().get() as number | null),
    };
  } catch (error) {
    throw openFailure(error, path);
  } finally {
    db?.close();
  }
}
