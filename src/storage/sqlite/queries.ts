import type { Database } from 'better-sqlite3';
import type { InboxMessage, JournalRow, ParentPlace, RunQuery, RunRecord, StoredDefinition } from '../contract.js';
import { decodeCursor, encodeCursor } from '../run-cursor.js';
import { defaultListLimit } from '../run-rules.js';

/** The columns of `run` under the names of `RunRecord`. */
export const runColumns = `run, id, workflow, revision, definition_hash as definitionHash, key, status,
  rollback_status as rollbackStatus, input, output, error, created_at as createdAt, started_at as startedAt,
  ended_at as endedAt, due_at as dueAt, owner, epoch, lease_expires_at as leaseExpiresAt, inbox_seq as inboxSeq,
  parent_id as parentId, parent_step as parentStep, parent_occurrence as parentOccurrence,
  resumed_from as resumedFrom, resumed_by as resumedBy, interruptions, schedule_id as scheduleId,
  archived_at as archivedAt`;

/** The columns of `journal` under the names of `JournalRow`. */
const entryColumns = 'seq, kind, step, occurrence, aspect, at, payload';

/** Exported so that a test can ask SQLite for its plan. */
export const childrenSql = `select ${runColumns} from run where parent_id = ? order by run`;

/** Before a query: `family` holds the ids of a run, bound first, and of those that it owns at any depth. */
export const familySql = `with recursive family (id) as (
    select ? union all select child.id from family cross join run as child on child.parent_id = family.id
  )`;

export const familyDueSql = `${familySql}
  select min(due_at) from family cross join run on run.id = family.id
  where ended_at is null and definition_hash in (select value from json_each(?))`;

/**
 * Before a query: `open` holds the definitions that unfinished runs are on, and a null. Not through the table
 * `definition`: a run may be there whose definition never was stored. It hops from one hash of the index to the next,
 * since a hundred thousand runs may share one.
 */
export const openHashesSql = `with recursive open (hash) as (
    select min(definition_hash) from run where ended_at is null
    union all
    select (select min(definition_hash) from run where ended_at is null and definition_hash > open.hash)
    from open where open.hash is not null
  )`;

/** The reads of the contract. */
export class Queries {
  readonly #db: Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  identity(): string {
    return this.#sql.identity.get() as string;
  }

  hasId(id: string): boolean {
    return this.#sql.hasId.get(id) !== undefined;
  }

  definition(hash: string): StoredDefinition | undefined {
    return this.#sql.definition.get(hash) as StoredDefinition | undefined;
  }

  unfinishedHashes(workflow: string, revision: number, hash: string): string[] {
    return this.#sql.unfinishedHashes.all({ workflow, revision, hash }) as string[];
  }

  journal(run: number, afterSeq: number, limit: number): JournalRow[] {
    return this.#sql.journal.all(run, afterSeq, limit) as JournalRow[];
  }

  entries(run: number, steps: readonly string[], afterSeq: number, limit: number): JournalRow[] {
    return this.#sql.entries.all(run, afterSeq, JSON.stringify(steps), limit) as JournalRow[];
  }

  /** Entries of these items and of none, all at once. */
  entriesForGuard(run: number, steps: readonly string[]): JournalRow[] {
    return this.#sql.entriesForGuard.all(run, JSON.stringify(steps)) as JournalRow[];
  }

  inbox(run: number, afterSeq: number): InboxMessage[] {
    return this.#sql.inbox.all(run, afterSeq) as InboxMessage[];
  }

  run(id: string): RunRecord | undefined {
    return this.#sql.run.get(id) as RunRecord | undefined;
  }

  runByKey(workflow: string, key: string): RunRecord | undefined {
    return this.#sql.runByKey.get(workflow, key) as RunRecord | undefined;
  }

  runAtPlace({ id, step, occurrence }: ParentPlace): RunRecord | undefined {
    return this.#sql.runAtPlace.get(id, step, occurrence) as RunRecord | undefined;
  }

  children(parentId: string): RunRecord[] {
    return this.#sql.children.all(parentId) as RunRecord[];
  }

  nextDueAt(hashes: readonly string[], only?: string): number | undefined {
    if (only !== undefined) {
      return (this.#sql.familyDue.get(only, JSON.stringify(hashes)) as number | null) ?? undefined;
    }
    const earliest = hashes
      .flatMap((hash) => [0, 1].map((suspect) => this.#sql.earliestDue.get(hash, suspect) as number | undefined))
      .filter((dueAt) => dueAt !== undefined);
    return earliest.length === 0 ? undefined : Math.min(...earliest);
  }

  listRuns({ workflow, statuses, since, limit = defaultListLimit, cursor, archived = false }: RunQuery): {
    runs: RunRecord[];
    cursor?: string;
  } {
    const conditions: string[] = [];
    const values: (string | number)[] = [];
    const where = (condition: string, ...bound: (string | number)[]): void => {
      conditions.push(condition);
      values.push(...bound);
    };
    where('archived = ?', archived ? 1 : 0);
    if (workflow !== undefined) where('workflow = ?', workflow);
    if (statuses !== undefined) where(`status in (${statuses.map(() => '?').join(', ')})`, ...statuses);
    if (since !== undefined) where('created_at >= ?', since);
    if (cursor !== undefined) {
      const { createdAt, run } = decodeCursor(cursor);
      where('(created_at, run) < (?, ?)', createdAt, run);
    }
    // One more than asked for tells whether there is another page.
    const rows = this.#db
      .prepare(
        `select ${runColumns} from run where ${conditions.join(' and ')}
         order by created_at desc, run desc limit ?`,
      )
      .all(...values, limit + 1) as RunRecord[];
    const runs = rows.slice(0, limit);
    const last = runs.at(-1);
    return rows.length > limit && last !== undefined ? { runs, cursor: encodeCursor(last) } : { runs };
  }
}

function prepare(db: Database) {
  return {
    identity: db.prepare(`select id from identity`).pluck(),
    hasId: db.prepare(`select 1 from run where id = ?`).pluck(),
    definition: db.prepare(
      `select hash, workflow, revision, document, source, stored_at as storedAt from definition where hash = ?`,
    ),
    // All runs of a hash are of one workflow and revision.
    unfinishedHashes: db
      .prepare(
        `${openHashesSql}
         select hash from open
         where hash <> @hash and (@workflow, @revision) = (
           select workflow, revision from run where definition_hash = open.hash and ended_at is null limit 1
         )
         order by hash`,
      )
      .pluck(),
    journal: db.prepare(
      `select ${entryColumns} from journal
       where run = ? and seq > ? order by seq limit ?`,
    ),
    // A list of any length in one value, so that one prepared statement serves all.
    entries: db.prepare(
      `select ${entryColumns} from journal
       where run = ? and seq > ? and step in (select value from json_each(?)) order by seq limit ?`,
    ),
    entriesForGuard: db.prepare(
      `select ${entryColumns} from journal
       where run = ? and (step is null or step in (select value from json_each(?))) order by seq`,
    ),
    inbox: db.prepare(`select seq, kind, name, payload, at from inbox where run = ? and seq > ? order by seq`),
    run: db.prepare(`select ${runColumns} from run where id = ?`),
    runByKey: db.prepare(`select ${runColumns} from run where workflow = ? and key = ?`),
    runAtPlace: db.prepare(
      `select ${runColumns} from run where parent_id = ? and parent_step = ? and parent_occurrence = ?`,
    ),
    children: db.prepare(childrenSql),
    familyDue: db.prepare(familyDueSql).pluck(),
    earliestDue: db
      .prepare(
        `select due_at from run where definition_hash = ? and suspect = ? and ended_at is null and due_at is not null
         order by due_at limit 1`,
      )
      .pluck(),
  };
}
