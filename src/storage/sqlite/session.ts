import { closeSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { type Clock, RunsheetError } from '../../common/index.js';
import { stoppedError } from '../run-rules.js';
import type { CheckpointThresholds } from './checkpoint-thresholds.js';
import { Checkpointer } from './checkpointer.js';
import { DeathWatch } from './death-watch.js';
import { type Durability, DurableOnCommit, type Verify } from './durability.js';
import { EngineLocks } from './engine-locks.js';
import { storageError } from './errors.js';
import { FileWatch } from './file-watch.js';
import { ForeignChanges } from './foreign-changes.js';
import { GroupCommit } from './group-commit.js';
import { openDatabase, syncFolder } from './open-database.js';
import { Queries } from './queries.js';
import { RetentionSql } from './retention-sql.js';
import { Schedules } from './schedules.js';
import { SurveyQueries } from './survey.js';
import { schemaVersion } from './schema.js';
import { Transitions } from './transitions.js';
import { type FileSync, WalSync } from './wal-sync.js';

/** `SqliteStorageOptions` with the defaults filled in. */
export interface SessionOptions {
  readonly durability: 'power' | 'process';
  readonly busyTimeoutMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly checkpoints: CheckpointThresholds;
  readonly trustSchema: boolean;
  readonly fileSync: FileSync;
}

/** What exists while a storage is open. */
export interface Session {
  readonly db: BetterSqlite3.Database;
  readonly queries: Queries;
  readonly transitions: Transitions;
  readonly schedules: Schedules;
  readonly retention: RetentionSql;
  readonly surveys: SurveyQueries;
  readonly durability: Durability;
  readonly writes: GroupCommit;
  readonly changes: ForeignChanges;
  /** Registered on this object. */
  readonly engines: Set<string>;
  /** Only of a database in a file. */
  readonly locks: EngineLocks | undefined;
  readonly deaths: DeathWatch | undefined;
  readonly checkpointer: Checkpointer | undefined;
  /** Why nothing can be done with it any more, where that came from outside. */
  lost: RunsheetError | undefined;
  closing: Promise<void> | undefined;
}

/** Every failure is a `RunsheetError`, and leaves nothing behind that was not there before. */
export async function openSession(path: string, options: SessionOptions): Promise<Session> {
  // Loaded here, so that a program that never opens a database does not pay for the driver.
  const { default: Database } = await import('better-sqlite3');
  return openDatabase(Database, path, options, (db) => assemble(Database, db, path, options));
}

export function closeSession(session: Session): Promise<void> {
  session.closing ??= close(session);
  return session.closing;
}

async function close(session: Session): Promise<void> {
  const { db, writes, durability, changes, deaths, locks, checkpointer } = session;
  writes.end(stoppedError());
  durability.syncNow();
  durability.close();
  changes.close();
  deaths?.close();
  // Of lost files nothing is copied any more that others may have written over.
  await (session.lost === undefined ? checkpointer?.end() : checkpointer?.abandon());
  locks?.close();
  db.close();
}

function assemble(
  Database: typeof BetterSqlite3,
  db: BetterSqlite3.Database,
  path: string,
  options: SessionOptions,
): Session {
  const { clock, random, busyTimeoutMs, checkpoints } = options;
  const isFile = path !== ':memory:';
  // SQLite puts its own files beside the real one, whatever link led to it.
  const realPath = isFile ? realpathSync(path) : path;
  const queries = new Queries(db);
  const transitions = new Transitions(db, queries);
  const schedules = new Schedules(db, queries, transitions);
  const retention = new RetentionSql(db);
  const surveys = new SurveyQueries(db);
  const files = isFile
    ? new FileWatch([realPath, `${realPath}-wal`, `${realPath}-shm`], clock, (error) => lost(error))
    : undefined;
  const verify: Verify = () => files?.verify();
  const version = db.prepare('pragma user_version').pluck();
  const changes = new ForeignChanges(db, clock, files);
  const engines = new Set<string>();
  const locks = isFile ? new EngineLocks(realPath, Database) : undefined;
  const deaths = locks && new DeathWatch(locks, clock);
  const checkpointer = isFile ? new Checkpointer(db, realPath, clock, checkpoints) : undefined;
  const durability =
    isFile && options.durability === 'power'
      ? surviveLossOfPower(db, realPath, options, { onFailure: (error) => lost(fenced(error, path)), verify })
      : new DurableOnCommit(verify);
  const writes = new GroupCommit({
    db,
    durability,
    clock,
    random,
    busyTimeoutMs,
    afterBegin: () => {
      files?.look();
      if (version.get() !== schemaVersion) lost(migrated(path));
    },
    explain: (error) => storageError(error, path),
    onCommit: (written) => {
      checkpointer?.wrote(written);
      if (transitions.concernedOthers && engines.size > 1) changes.notify();
      transitions.concernedOthers = false;
    },
  });
  const lost = (error: RunsheetError): void => {
    if (session.lost !== undefined) return;
    session.lost = error;
    writes.end(error);
    durability.fail(error);
    // An engine with nothing to write would not hear of it otherwise.
    changes.notify();
    // At once: the longer it stays open, the more others may have done with the files that its end would meddle with.
    setImmediate(() => void closeSession(session).catch(() => undefined));
  };
  const work = { queries, transitions, schedules, retention, surveys };
  const watches = { changes, engines, locks, deaths, checkpointer };
  const session: Session = { db, ...work, durability, writes, ...watches, lost: undefined, closing: undefined };
  return session;
}

function surviveLossOfPower(
  db: BetterSqlite3.Database,
  realPath: string,
  { fileSync, clock }: SessionOptions,
  { onFailure, verify }: { onFailure: (error: Error) => void; verify: Verify },
): Durability {
  let fd: number;
  try {
    fd = openSync(`${realPath}-wal`, 'r+');
  } catch {
    // Slower, but as durable: each COMMIT then makes its own sync.
    db.pragma('synchronous = FULL');
    return new DurableOnCommit(verify);
  }
  try {
    syncFolder(dirname(realPath));
    // Covers the migration.
    fileSync.now(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return new WalSync({ fd, fileSync, clock, onFailure, verify, release: () => closeSync(fd) });
}

function fenced(error: Error, path: string): RunsheetError {
  return new RunsheetError(
    'RS_STORAGE_LOST',
    `The log of ${path} could not be made durable, so nothing more is written to it; check the disk and start again. (${error.message})`,
    { cause: error },
  );
}

/** Its tables may mean something else by now. */
function migrated(path: string): RunsheetError {
  return new RunsheetError(
    'RS_STORAGE_LOST',
    `${path} was brought to another version by another Runsheet while this one used it, so nothing more is written to it; ` +
      'start again with that one.',
  );
}
