import type { Database } from 'better-sqlite3';
import type {
  Claim,
  InboxMessage,
  Lease,
  NewInboxMessage,
  NewRun,
  ReleasedRun,
  RunRecord,
  RunStatus,
  StoredDefinition,
  Transition,
  Unit,
  UnitResult,
} from '../contract.js';
import { misfitOf, refusalOf, statusWhenClaimed } from '../run-rules.js';
import { runColumns } from './queries.js';

/**
 * The writes of the contract, each to be called inside a transaction that the caller begins and ends.
 * They are conditional on what is in the row, never on what was read before the transaction.
 */
export class Transitions {
  /** Since it was last looked at, something was written that may concern an engine other than the writer. */
  concernedOthers = false;

  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#sql = prepare(db);
  }

  storeDefinition({ hash, workflow, revision, document, source, storedAt }: StoredDefinition): void {
    this.#sql.storeDefinition.run(hash, workflow, revision, document, source, storedAt);
  }

  enqueue(run: NewRun): { run: RunRecord; created: boolean } {
    if (run.key !== null) {
      const holder = this.#sql.runByKey.get(run.workflow, run.key);
      if (holder !== undefined) return { run: holder as RunRecord, created: false };
    }
    const { id, workflow, revision, definitionHash, key, input, createdAt, dueAt } = run;
    const row = this.#sql.insertRun.get(id, workflow, revision, definitionHash, key, input, createdAt, dueAt);
    this.concernedOthers = true;
    return { run: row as RunRecord, created: true };
  }

  /** A merge of the definitions' own queues: always the oldest of their heads, until `limit` or none is due. */
  claim(claim: Claim): RunRecord[] {
    const places = new Map<string, number>();
    const mayClaim = ({ workflow }: Head): boolean => {
      const limit = claim.limits?.get(workflow);
      if (limit === undefined) return true;
      if (!places.has(workflow)) {
        places.set(workflow, limit - (this.#sql.countLeased.get(workflow, claim.now) as number));
      }
      return (places.get(workflow) ?? 0) > 0;
    };
    const headOf = (hash: string): Head | undefined =>
      (claim.only === undefined
        ? this.#sql.head.get(hash, claim.now)
        : this.#sql.headOnly.get(claim.only, hash, claim.now)) as Head | undefined;

    const heads = new Map<string, Head>();
    for (const hash of claim.hashes) {
      const head = headOf(hash);
      if (head !== undefined) heads.set(hash, head);
    }
    const claimed: RunRecord[] = [];
    while (claimed.length < claim.limit) {
      const oldest = oldestOf(heads);
      if (oldest === undefined) break;
      const [hash, head] = oldest;
      if (!mayClaim(head)) {
        heads.delete(hash);
        continue;
      }
      const { owner, leaseExpiresAt, now } = claim;
      const status = statusWhenClaimed(head.status);
      claimed.push(this.#sql.lease.get({ run: head.run, status, owner, leaseExpiresAt, now }) as RunRecord);
      const free = places.get(head.workflow);
      if (free !== undefined) places.set(head.workflow, free - 1);
      const next = headOf(hash);
      if (next === undefined) heads.delete(hash);
      else heads.set(hash, next);
    }
    return claimed;
  }

  renew(owner: string, leases: readonly Lease[], expiresAt: number): number[] {
    return leases
      .filter(({ run, epoch }) => this.#sql.renew.run({ run, epoch, owner, expiresAt }).changes === 0)
      .map(({ run }) => run);
  }

  release(owner: string, leases: readonly Lease[], now: number): void {
    for (const { run, epoch } of leases) {
      if (this.#sql.release.run({ run, epoch, owner, now }).changes > 0) this.concernedOthers = true;
    }
  }

  releaseOwner(owner: string, now: number): ReleasedRun[] {
    const released = this.#sql.releaseOwner.all({ owner, now }) as ReleasedRun[];
    if (released.length > 0) this.concernedOthers = true;
    return released;
  }

  commitUnit(unit: Unit): UnitResult {
    const row = this.#sql.fence.get(unit.run) as Fence | undefined;
    const refusal = refusalOf(unit, row);
    if (refusal !== undefined) return refusal;
    this.#append(unit);
    if (unit.transition !== undefined) this.#apply(unit.run, unit.transition);
    return 'committed';
  }

  postInbox(runId: string, { kind, name, payload, at }: NewInboxMessage): InboxMessage | undefined {
    const raised = this.#sql.raiseInbox.get({ id: runId, at }) as { run: number; seq: number } | undefined;
    if (raised === undefined) return undefined;
    this.#sql.insertMessage.run(raised.run, raised.seq, kind, name, payload, at);
    this.concernedOthers = true;
    return { seq: raised.seq, kind, name, payload, at };
  }

  #append({ run, entries }: Unit): void {
    if (entries.length === 0) return;
    const lastSeq = this.#sql.lastSeq.get(run) as number;
    const misfit = misfitOf(entries, lastSeq, run);
    if (misfit !== undefined) throw misfit;
    for (const { seq, kind, step, occurrence, aspect, at, payload } of entries) {
      this.#sql.insertEntry.run(run, seq, kind, step, occurrence, aspect, at, payload);
    }
  }

  #apply(run: number, transition: Transition): void {
    switch (transition.kind) {
      case 'park': {
        const { status, dueAt, rollbackStatus = null } = transition;
        this.#sql.park.run({ run, status, dueAt, rollbackStatus });
        this.concernedOthers = true;
        return;
      }
      case 'end': {
        const { status, output, error, rollbackStatus, endedAt } = transition;
        this.#sql.end.run({ run, status, output, error, rollbackStatus, endedAt });
        this.concernedOthers = true;
        return;
      }
      case 'status': {
        const { status, rollbackStatus = null } = transition;
        this.#sql.setStatus.run({ run, status, rollbackStatus });
        return;
      }
    }
  }
}

interface Head {
  readonly run: number;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly dueAt: number;
}

interface Fence {
  readonly owner: string | null;
  readonly epoch: number;
  readonly inboxSeq: number;
}

function oldestOf(heads: ReadonlyMap<string, Head>): [string, Head] | undefined {
  let oldest: [string, Head] | undefined;
  for (const entry of heads) {
    const head = entry[1];
    const best = oldest?.[1];
    if (best === undefined || head.dueAt < best.dueAt || (head.dueAt === best.dueAt && head.run < best.run)) {
      oldest = entry;
    }
  }
  return oldest;
}

/** The head of one definition's queue; exported so that a test can ask SQLite for its plan. */
export const headSql = `select run, workflow, status, due_at as dueAt from run
  where definition_hash = ? and ended_at is null and due_at <= ? order by due_at, run limit 1`;

export const countLeasedSql = `select count(*) from run where workflow = ? and lease_expires_at > ?`;

function prepare(db: Database) {
  return {
    storeDefinition: db.prepare(
      `insert into definition (hash, workflow, revision, document, source, stored_at) values (?, ?, ?, ?, ?, ?)
       on conflict (hash) do nothing`,
    ),
    runByKey: db.prepare(`select ${runColumns} from run where workflow = ? and key = ?`),
    insertRun: db.prepare(
      `insert into run (id, workflow, revision, definition_hash, key, status, input, created_at, due_at, epoch, inbox_seq)
       values (?, ?, ?, ?, ?, 'pending', ?, ?, ?, 0, 0) returning ${runColumns}`,
    ),
    head: db.prepare(headSql),
    headOnly: db.prepare(
      `select run, workflow, status, due_at as dueAt from run
       where id = ? and definition_hash = ? and ended_at is null and due_at <= ?`,
    ),
    countLeased: db.prepare(countLeasedSql).pluck(),
    lease: db.prepare(
      `update run set status = @status, owner = @owner, epoch = epoch + 1, lease_expires_at = @leaseExpiresAt,
         due_at = @leaseExpiresAt, started_at = coalesce(started_at, @now)
       where run = @run returning ${runColumns}`,
    ),
    renew: db.prepare(
      `update run set lease_expires_at = @expiresAt, due_at = @expiresAt
       where run = @run and owner = @owner and epoch = @epoch`,
    ),
    release: db.prepare(
      `update run set owner = null, lease_expires_at = null, due_at = @now
       where run = @run and owner = @owner and epoch = @epoch`,
    ),
    releaseOwner: db.prepare(
      `update run set owner = null, lease_expires_at = null, due_at = @now
       where lease_expires_at is not null and owner = @owner returning id, status`,
    ),
    fence: db.prepare(`select owner, epoch, inbox_seq as inboxSeq from run where run = ?`),
    lastSeq: db.prepare(`select coalesce(max(seq), 0) from journal where run = ?`).pluck(),
    insertEntry: db.prepare(
      `insert into journal (run, seq, kind, step, occurrence, aspect, at, payload) values (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    park: db.prepare(
      `update run set status = @status, due_at = @dueAt, rollback_status = coalesce(@rollbackStatus, rollback_status),
         owner = null, lease_expires_at = null
       where run = @run`,
    ),
    end: db.prepare(
      `update run set status = @status, output = @output, error = @error, rollback_status = @rollbackStatus,
         ended_at = @endedAt, due_at = null, owner = null, lease_expires_at = null
       where run = @run`,
    ),
    setStatus: db.prepare(
      `update run set status = @status, rollback_status = coalesce(@rollbackStatus, rollback_status) where run = @run`,
    ),
    raiseInbox: db.prepare(
      `update run set inbox_seq = inbox_seq + 1,
         due_at = case when owner is null then min(coalesce(due_at, @at), @at) else due_at end
       where id = @id and ended_at is null returning run, inbox_seq as seq`,
    ),
    insertMessage: db.prepare(`insert into inbox (run, seq, kind, name, payload, at) values (?, ?, ?, ?, ?, ?)`),
  };
}
