import type { Database } from 'better-sqlite3';
import { type Head, claimFrom } from '../claim-merge.js';
import type {
  Claim,
  InboxMessage,
  InboxPost,
  JournalRow,
  Lease,
  NewInboxMessage,
  NewRun,
  PostResult,
  ReleasedRun,
  RunRecord,
  StoredDefinition,
  Transition,
  Unit,
  UnitResult,
} from '../contract.js';
import {
  assertFollow,
  canReopen,
  canResume,
  interruptionDelayMs,
  isTerminal,
  refusalOf,
  statusWhenClaimed,
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

  enqueue(run: NewRun): { run: RunRecord; created: boolean } {
    const holder =
      (run.key === null ? undefined : this.#queries.runByKey(run.workflow, run.key)) ??
      (run.parent === undefined ? undefined : this.#queries.runAtPlace(run.parent));
    return holder === undefined ? { run: this.insert(run), created: true } : { run: holder, created: false };
  }

  setLimit(workflow: string, revision: number, limit: number | null): void {
    if (this.#sql.setLimit.run(workflow, revision, limit).changes > 0) this.concernedOthers = true;
  }

  claim(claim: Claim): RunRecord[] {
    const { owner, leaseExpiresAt, now, only } = claim;
    const sql = this.#sql;
    return claimFrom(
      {
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
        postpone: ({ run }, interruptions, dueAt) => {
          sql.interrupt.run({ run, interruptions, dueAt });
          this.concernedOthers = true;
        },
      },
      claim,
    );
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
      this.#sql.interrupt.run({ run, interruptions, dueAt: now + interruptionDelayMs(interruptions) });
      this.concernedOthers = true;
    }
    return held.map(({ id, status }) => ({ id, status }));
  }

  commitUnit(unit: Unit): UnitResult {
    const row = this.#sql.fence.get(unit.run) as Fence | undefined;
    const refusal = refusalOf(unit, row);
    if (refusal !== undefined) return refusal;
    this.#append(unit.run, row?.lastSeq ?? 0, unit.entries);
    if (unit.progress === true) this.#sql.progress.run(unit.run);
    if (unit.transition !== undefined) this.#apply(unit.run, unit.transition);
    for (const child of unit.children ?? []) {
      if (child.parent === undefined || this.#queries.runAtPlace(child.parent) === undefined) this.insert(child);
    }
    for (const { runId, message } of unit.posts ?? []) {
      const target = this.#sql.unfinishedRun.get(runId) as number | undefined;
      if (target !== undefined) this.#deliver(target, message);
    }
    for (const { runId, dueAt } of unit.reopen ?? []) this.#reopen(runId, dueAt);
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

  resume(
    from: string,
    run: NewRun,
    entries: readonly JournalRow[],
    messages: readonly NewInboxMessage[],
  ): RunRecord | undefined {
    const old = this.#queries.run(from);
    if (old === undefined || !canResume(old)) return undefined;
    this.#sql.passKey.run({ run: old.run, resumedBy: run.id });
    const record = this.insert({ ...run, key: old.key }, from);
    this.#append(record.run, 0, entries);
    for (const message of messages) this.#deliver(record.run, message);
    return messages.length === 0 ? record : this.#queries.run(run.id);
  }

  insert(run: NewRun, resumedFrom: string | null = null): RunRecord {
    const { parent, scheduleId = null, ...columns } = run;
    this.concernedOthers = true;
    return this.#sql.insertRun.get({
      ...columns,
      parentId: parent?.id ?? null,
      parentStep: parent?.step ?? null,
      parentOccurrence: parent?.occurrence ?? null,
      resumedFrom,
      scheduleId,
    }) as RunRecord;
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
        this.#sql.end.run({ run, status, output, error, rollbackStatus, endedAt });
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
