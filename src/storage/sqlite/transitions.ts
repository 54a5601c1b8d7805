import type { Database } from 'better-sqlite3';
import { type ClaimRows, type Head, claimFrom } from '../claim-merge.js';
import type {
  Claim,
  Enqueued,
  FirstUnit,
  InboxMessage,
  InboxPost,
  JournalRow,
  Lease,
  NewInboxMessage,
  NewRun,
  PostResult,
  ReleasedRun,
  Resumption,
  RunRecord,
  Started,
  StoredDefinition,
  Transition,
  Unit,
  UnitResult,
} from '../contract.js';
import { pendingRecord } from '../pending-record.js';
import {
  assertFollow,
  canReopen,
  canResume,
  interruptionDelayMs,
  isTerminal,
  refusalOf,
  statusWhenClaimed,
  withFreeId,
} from '../run-rules.js';
import type { Queries } from './queries.js';
import { type TransitionStatements, prepareTransitions } from './transition-sql.js';

/**
 * The writes of the contract, each to be called inside a transaction that the caller begins and ends.
 * They are conditional on what is in the row, never on what was read before the transaction.
 */
export class Transitions {
  /** Since it was last looked at, something was written that may concern an engine other than the writer. */
  concernedOthers = false;

  readonly #sql: TransitionStatements;
  /** Over the same connection, so that they see what the transaction has written. */
  readonly #queries: Queries;

  constructor(db: Database, queries: Queries) {
    this.#sql = prepareTransitions(db);
    this.#queries = queries;
  }

  storeDefinition({ hash, workflow, revision, document, source, storedAt }: StoredDefinition): void {
    this.#sql.storeDefinition.run(hash, workflow, revision, document, source, storedAt);
  }

  enqueue(run: NewRun): Enqueued {
    const holder = this.#holderOf(run);
    return holder === undefined ? { run: this.insert(run), created: true } : { run: holder, created: false };
  }

  /** The new run takes part in the claim as if it were inserted; if it is taken, it is inserted with its lease. */
  start(run: NewRun, claim: Claim, first: FirstUnit): Started {
    const holder = this.#holderOf(run);
    if (holder !== undefined) return { run: holder, created: false, claimed: undefined };
    if (run.nextId !== undefined && this.#queries.hasId(run.id)) {
      return { run: this.insert(run), created: true, claimed: undefined };
    }
    const rows = this.#claimRows(claim);
    const { id, workflow, definitionHash, dueAt } = run;
    const isDue = dueAt <= claim.now && (claim.only ?? id) === id;
    // After all that are due at the same time, as its number will be the highest.
    const candidate: Head = { run: Infinity, workflow, status: 'pending', dueAt, owner: null, interruptions: 0 };
    let inserted: RunRecord | undefined;
    const [claimed] = claimFrom(
      {
        ...rows,
        head: (queue) => {
          const head = rows.head(queue);
          const isNext = isDue && !queue.suspects && queue.hash === definitionHash && inserted === undefined;
          return isNext && (head === undefined || dueAt < head.dueAt) ? candidate : head;
        },
        lease: (head, interruptions) => {
          if (head !== candidate) return rows.lease(head, interruptions);
          const lease = leaseOf(claim);
          inserted = this.insert(run, null, lease);
          return { ...inserted, ...lease };
        },
      },
      { ...claim, limit: 1 },
    );
    if (inserted === undefined) return { run: this.insert(run), created: true, claimed };
    this.#write(inserted.run, 0, first);
    return { run: inserted, created: true, claimed };
  }

  setLimit(workflow: string, revision: number, limit: number | null): void {
    if (this.#sql.setLimit.run(workflow, revision, limit).changes > 0) this.concernedOthers = true;
  }

  claim(claim: Claim): RunRecord[] {
    return claimFrom(this.#claimRows(claim), claim);
  }

  renew(owner: string, leases: readonly Lease[], expiresAt: number, now: number): number[] {
    return leases
      .filter(({ run, epoch }) => this.#sql.renew.run({ run, epoch, owner, expiresAt, now }).changes === 0)
      .map(({ run }) => run);
  }

  release(owner: string, leases: readonly Lease[], now: number): void {
    for (const { run, epoch } of leases) {
      if (this.#sql.release.run({ run, epoch, owner, now }).changes > 0) this.concernedOthers = true;
    }
  }

  releaseOwner(owner: string, now: number): ReleasedRun[] {
    const held = this.#sql.leasedBy.all(owner) as (ReleasedRun & { run: number; interruptions: number })[];
    for (const { run, interruptions: before } of held) {
      const interruptions = before + 1;
      this.#sql.interrupt.run({ run, interruptions, now, delayMs: interruptionDelayMs(interruptions) });
      this.concernedOthers = true;
    }
    return held.map(({ id, status }) => ({ id, status }));
  }

  commitUnit(unit: Unit): UnitResult {
    const row = this.#sql.fence.get(unit.run) as Fence | undefined;
    const refusal = refusalOf(unit, row);
    if (refusal !== undefined) return refusal;
    if (unit.progress === true) this.#sql.progress.run(unit.run);
    this.#write(unit.run, row?.lastSeq ?? 0, unit);
    return 'committed';
  }

  postInbox<Refusal>(runId: string, post: InboxPost<Refusal>): PostResult<Refusal> {
    const run = this.#queries.run(runId);
    if (run === undefined) return { kind: 'unknown' };
    if (isTerminal(run.status)) return { kind: 'ended', run };
    const { kind, name, payload, guard } = post;
    // The transaction holds the only write lock there is, so that from here on nobody is earlier.
    const now = post.now();
    if (guard !== undefined) {
      const messages = this.#queries.inbox(run.run, 0);
      const entries = this.#queries.entriesForGuard(run.run, guard.steps);
      const refusal = guard.refuse({ run, now, messages, entries });
      if (refusal !== undefined) return { kind: 'refused', refusal };
    }
    return { kind: 'posted', message: this.#deliver(run.run, { kind, name, payload, at: now }) };
  }

  resume(resumption: Resumption): RunRecord | undefined {
    if (!canResume(resumption, (id) => this.#queries.run(id))) return undefined;
    this.#goOn(resumption);
    return this.#queries.run(resumption.run.id);
  }

  #goOn({ from, run, entries, messages = [], children = [] }: Resumption): void {
    const old = this.#queries.run(from);
    if (old === undefined) throw new RangeError(`there is no run ${from}`);
    this.#sql.passKey.run({ run: old.run, resumedBy: run.id });
    const record = this.insert({ ...run, key: old.key }, from);
    this.#append(record.run, 0, entries);
    for (const message of messages) this.#deliver(record.run, message);
    for (const child of children) this.#goOn(child);
  }

  /** @returns the record as it is without the lease that it may be inserted with */
  insert(given: NewRun, resumedFrom: string | null = null, lease: FirstLease = noLease): RunRecord {
    const run = withFreeId(given, (id) => this.#queries.hasId(id));
    const { id, workflow, revision, definitionHash, key, input, createdAt, parent, scheduleId = null } = run;
    const { status, owner, epoch, leaseExpiresAt, startedAt, dueAt = run.dueAt } = lease;
    this.concernedOthers = true;
    const { lastInsertRowid } = this.#sql.insertRun.run(
      ...[id, workflow, revision, definitionHash, key, status, input, createdAt, dueAt],
      ...[owner, epoch, leaseExpiresAt, startedAt, owner === null ? null : run.dueAt],
      ...[parent?.id ?? null, parent?.step ?? null, parent?.occurrence ?? null, resumedFrom, scheduleId],
    );
    return pendingRecord(Number(lastInsertRowid), run, resumedFrom);
  }

  #holderOf({ key, workflow, parent }: NewRun): RunRecord | undefined {
    return (
      (key === null ? undefined : this.#queries.runByKey(workflow, key)) ??
      (parent === undefined ? undefined : this.#queries.runAtPlace(parent))
    );
  }

  #claimRows({ owner, leaseExpiresAt, now, only }: Claim): ClaimRows {
    const sql = this.#sql;
    sql.requeue.run(now);
    return {
      head: ({ hash, suspects }) => {
        const queue = [hash, suspects ? 1 : 0, now] as const;
        return (only === undefined ? sql.head.get(...queue) : sql.familyHead.get(only, ...queue)) as Head | undefined;
      },
      hasSuspect: (dueBy) => sql.suspectDue.get(dueBy) !== undefined,
      freePlaces: (workflow) => {
        const limit = sql.limit.get(workflow) as number | null | undefined;
        return typeof limit === 'number' ? limit - (sql.countLeased.get(workflow, now) as number) : Infinity;
      },
      lease: ({ run, status: before }, interruptions) => {
        const status = statusWhenClaimed(before);
        return sql.lease.get({ run, status, owner, leaseExpiresAt, now, interruptions }) as RunRecord;
      },
      postpone: ({ run }, interruptions, delayMs) => {
        sql.interrupt.run({ run, interruptions, now, delayMs });
        this.concernedOthers = true;
      },
    };
  }

  #write(run: number, lastSeq: number, { entries, transition, children, posts, reopen }: FirstUnit): void {
    this.#append(run, lastSeq, entries);
    if (transition !== undefined) this.#apply(run, transition);
    for (const child of children ?? []) {
      const holder = child.parent && this.#queries.runAtPlace(child.parent);
      if (holder !== undefined && holder.run > run) continue;
      if (holder !== undefined) this.#remove(holder.run);
      this.insert(child);
    }
    for (const { runId, message } of posts ?? []) {
      const target = this.#sql.unfinishedRun.get(runId) as number | undefined;
      if (target !== undefined) this.#deliver(target, message);
    }
    for (const { runId, dueAt } of reopen ?? []) this.#reopen(runId, dueAt);
  }

  #remove(run: number): void {
    if (this.#sql.remove.run(run).changes > 0) this.#sql.owePurge.run(run);
  }

  #deliver(run: number, { kind, name, payload, at }: NewInboxMessage): InboxMessage {
    const seq = this.#sql.raiseInbox.get({ run, at }) as number;
    this.#sql.insertMessage.run(run, seq, kind, name, payload, at);
    this.concernedOthers = true;
    return { seq, kind, name, payload, at };
  }

  #reopen(runId: string, dueAt: number): void {
    const record = this.#queries.run(runId);
    if (record === undefined || !canReopen(record)) return;
    this.#sql.reopen.run({ run: record.run, dueAt });
    this.concernedOthers = true;
  }

  #append(run: number, lastSeq: number, entries: readonly JournalRow[]): void {
    assertFollow(entries, lastSeq, `number ${run}`);
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
        this.#sql.end.run(status, output, error, rollbackStatus, endedAt, run);
        this.concernedOthers = true;
        return;
      }
      case 'status': {
        const { status, rollbackStatus = null, error = null } = transition;
        this.#sql.setStatus.run({ run, status, rollbackStatus, error });
        return;
      }
    }
  }
}

interface Fence {
  readonly owner: string | null;
  readonly epoch: number;
  readonly inboxSeq: number;
  readonly lastSeq: number;
}

/** What a run's first lease makes of its row. */
type FirstLease = Pick<RunRecord, 'status' | 'owner' | 'epoch' | 'leaseExpiresAt' | 'startedAt'> & {
  readonly dueAt?: number;
};

const noLease: FirstLease = { status: 'pending', owner: null, epoch: 0, leaseExpiresAt: null, startedAt: null };

function leaseOf({ owner, now, leaseExpiresAt }: Claim) {
  const status = statusWhenClaimed('pending');
  return { status, owner, epoch: 1, leaseExpiresAt, startedAt: now, dueAt: leaseExpiresAt };
}
