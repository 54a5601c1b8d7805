import type { Database } from 'better-sqlite3';
import { RunsheetError } from '../../common/index.js';

/** "RunS" in ASCII: tells a database of Runsheet from any other (`PRAGMA application_id`). */
const applicationId = 0x52756e53;

/**
 * Numbered from 1 and only ever appended to; `PRAGMA user_version` says how many a database has had.
 *
 * - `journal` is an ordinary rowid table: `WITHOUT ROWID` would be five times slower and four times larger at 1 KB a row.
 * - `run_due` serves every claim: per definition, over unfinished rows, suspects (`suspectAfter` interruptions) apart,
 *   so that they hold nobody up. A leased row's `due_at` is its lease's expiry, so that new, woken and expired runs
 *   stand in one order. (One index over all definitions would walk through every due run of a workflow that is at
 *   its limit.) With `status` in it, parked runs are counted without reading them.
 * - `run_suspect` tells each claim at once that no suspect is due, however many definitions it asks for. Its condition is
 *   not on `suspect`, which the claim's other queries bind: SQLite would plan them anew at each call, to see whether
 *   it can serve them.
 * - `queued_at` is when a leased run was due before it was claimed: with that it stands in the order again where its lease
 *   ends before it does, so that what has begun does not go behind what has not.
 * - `run_parent` keeps a child from being inserted twice, and finds a run's children.
 * - `run_leased` counts a workflow's places; it holds the leased rows only.
 * - `run_created` lists and `run_ended` cleans up; archived runs are apart, so that they slow down neither.
 * - Run numbers are never used twice (`autoincrement`), though runs are removed: whoever still reads a journal by
 *   its number shall not come upon another run's.
 * - `removal` holds the numbers of removed runs whose journal and inbox are still to go.
 * - `identity` holds one row for good (`readIdentity`).
 * - `schedule_revision` remembers which revision spoke last, also where it has no schedules.
 */
const migrations: readonly string[] = [
  `
  create table definition (
    hash text primary key,
    workflow text not null,
    revision integer not null,
    document text not null,
    source text,
    stored_at integer not null
  );

  create table run (
    run integer primary key autoincrement,
    id text not null unique,
    workflow text not null,
    revision integer not null,
    definition_hash text not null,
    key text,
    status text not null,
    rollback_status text,
    input text not null,
    output text,
    error text,
    created_at integer not null,
    started_at integer,
    ended_at integer,
    due_at integer,
    owner text,
    epoch integer not null,
    lease_expires_at integer,
    inbox_seq integer not null,
    parent_id text,
    parent_step text,
    parent_occurrence text,
    resumed_from text,
    resumed_by text,
    interruptions integer not null default 0,
    schedule_id text,
    archived_at integer,
    suspect integer generated always as (interruptions >= 3) virtual,
    archived integer generated always as (archived_at is not null) virtual
  );
  create unique index run_key on run (workflow, key) where key is not null;
  create unique index run_parent on run (parent_id, parent_step, parent_occurrence) where parent_id is not null;
  create index run_open_child on run (parent_id) where parent_id is not null and ended_at is null;
  create index run_due on run (definition_hash, suspect, due_at, run, status) where ended_at is null;
  create index run_leased on run (workflow, lease_expires_at) where lease_expires_at is not null;
  create index run_created on run (archived, created_at);
  create index run_ended on run (archived, ended_at) where ended_at is not null;
  create index run_schedule on run (workflow, schedule_id) where schedule_id is not null and ended_at is null;

  create table removal (run integer primary key);

  create table workflow_limit (
    workflow text primary key,
    revision integer not null,
    most_runs integer
  );

  create table schedule_revision (
    workflow text primary key,
    revision integer not null
  );
  create table schedule (
    workflow text not null,
    id text not null,
    revision integer not null,
    cadence text not null,
    timezone text,
    input text not null,
    overlap text not null,
    next_at integer,
    anchor_at integer not null,
    paused integer not null,
    primary key (workflow, id)
  );

  create table journal (
    run integer not null,
    seq integer not null,
    kind text not null,
    step text,
    occurrence text,
    aspect text,
    at integer not null,
    payload text
  );
  create unique index journal_seq on journal (run, seq);

  create table inbox (
    run integer not null,
    seq integer not null,
    kind text not null,
    name text,
    payload text,
    at integer not null
  );
  create unique index inbox_seq on inbox (run, seq);
  `,
  `
  create index run_suspect on run (due_at) where interruptions >= 3 and ended_at is null;
  `,
  `
  alter table run add column queued_at integer;
  `,
  `
  create table identity (id text not null);
  insert into identity values (lower(hex(randomblob(16))));
  `,
];

export const schemaVersion = migrations.length;

/**
 * Refuses what is not ours to write in: a newer version's database (`RS_STORAGE_TOO_NEW`) or another
 * program's (`RS_STORAGE_CORRUPT`). Changes nothing.
 */
export function assertOurs(db: Database, path: string, trustSchema = false): void {
  // In one transaction: another process may be making the database just now.
  const look = db.transaction(() => ({
    version: db.pragma('user_version', { simple: true }) as number,
    application: db.pragma('application_id', { simple: true }) as number,
    objects: objectsOf(db),
  }));
  const { version, application, objects } = look();
  const isEmpty = objects.length === 0;
  if (application !== applicationId && !isEmpty) {
    throw new RunsheetError(
      'RS_STORAGE_CORRUPT',
      `${path} is a SQLite database, but of another program; choose another file for Runsheet.`,
    );
  }
  if (version > schemaVersion) {
    throw new RunsheetError(
      'RS_STORAGE_TOO_NEW',
      `${path} has version ${version}, and this Runsheet knows versions up to ${schemaVersion}; use a newer Runsheet.`,
    );
  }
  const strange = isEmpty || trustSchema ? undefined : strangeObject(db, objects, version);
  if (strange !== undefined) {
    throw new RunsheetError(
      'RS_STORAGE_CORRUPT',
      `${path} has ${strange}; it was changed by another program, or made by somebody else. Use a database that only Runsheet has written, or a backup.`,
    );
  }
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

/** SQLite's own objects (statistics, automatic indexes) excepted. */
function objectsOf(db: Database): SchemaObject[] {
  return db
    .prepare(
      `select type, name, tbl_name as "table", coalesce(sql, '') as sql from sqlite_schema
       where type not in ('table', 'index') or name not like 'sqlite\\_%' escape '\\'`,
    )
    .all() as SchemaObject[];
}

/**
 * What could act when Runsheet reads or writes: triggers, views, virtual tables, and tables of ours that are not as we
 * make them. Ordinary tables beside ours, of a program that copies databases, do no harm.
 */
function strangeObject(db: Database, objects: readonly SchemaObject[], version: number): string | undefined {
  const expected = expectedObjects(db, version);
  const ours = new Set([...expected.values()].map(({ table }) => table));
  for (const { type, name, table, sql } of objects) {
    const known = expected.get(name);
    if (known !== undefined && known.type === type && plain(known.sql) === plain(sql)) continue;
    const isOrdinary = type === 'table' ? !/^create\s+virtual/i.test(sql) : type === 'index';
    if (!isOrdinary || known !== undefined || ours.has(table))
      return `a ${type} \`${name}\` that does not belong to it`;
  }
  const names = new Set(objects.map(({ name }) => name));
  const missing = [...expected.values()].find(({ name }) => !names.has(name));
  return missing === undefined ? undefined : `no ${missing.type} \`${missing.name}\``;
}

const expectedByVersion = new Map<number, ReadonlyMap<string, SchemaObject>>();

/** As the migrations make them, in a database of their own. */
function expectedObjects(db: Database, version: number): ReadonlyMap<string, SchemaObject> {
  const known = expectedByVersion.get(version);
  if (known !== undefined) return known;
  const model = new (db.constructor as new (path: string) => Database)(':memory:');
  try {
    for (const migration of migrations.slice(0, Math.max(0, version))) model.exec(migration);
    const objects = new Map(objectsOf(model).map((object) => [object.name, object]));
    expectedByVersion.set(version, objects);
    return objects;
  } finally {
    model.close();
  }
}

/** Spaces and line breaks say nothing, nor do the quotes with which SQLite writes a name after a renaming. */
function plain(sql: string): string {
  return sql.replace(/"/g, '').replace(/\s+/g, ' ').trim();
}

/**
 * Brings the database to the newest version, in one transaction. Takes the write lock in any case, so
 * that a database that cannot be written is found out now and not at the first run.
 */
export function migrate(db: Database, path: string, trustSchema = false): void {
  db.exec('begin immediate');
  try {
    // Looked at again under the lock: another process may have been quicker.
    assertOurs(db, path, trustSchema);
    const version = db.pragma('user_version', { simple: true }) as number;
    for (const migration of migrations.slice(version)) db.exec(migration);
    if (version < schemaVersion) {
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${schemaVersion}`);
    }
    db.exec('commit');
  } finally {
    if (db.inTransaction) db.exec('rollback');
  }
}
