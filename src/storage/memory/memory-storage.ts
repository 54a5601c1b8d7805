import { randomUUID } from 'node:crypto';
import { ChangeListeners } from '../change-listeners.js';
import { claimFrom } from '../claim-merge.js';
import type {
  Claim,
  Enqueued,
  Firing,
  FiringResult,
  FirstUnit,
  InboxMessage,
  InboxPost,
  JournalRow,
  Lease,
  NewInboxMessage,
  NewRun,
  NewSchedule,
  PostResult,
  ReleasedRun,
  Resumption,
  RetentionQuery,
  RunQuery,
  RunRecord,
  ScheduleRecord,
  Started,
  Storage,
  StorageCapabilities,
  StoredDefinition,
  Survey,
  Transition,
  Unit,
  UnitResult,
} from '../contract.js';
import { encodeCursor } from '../run-cursor.js';
import {
  assertClaim,
  assertFollow,
  canReopen,
  canResume,
  defaultListLimit,
  isParked,
  isSuspect,
  isTerminal,
  refusalOf,
  statusWhenClaimed,
  stoppedError,
} from '../run-rules.js';
import { RunTable, type StoredRun } from './run-table.js';
import { ScheduleTable } from './schedule-table.js';
import { retainedNoMore } from './trees.js';

/**
 * Everything in this object and gone with it; for tests, and for flows that need not outlive the
 * process. Several engines may share one. What it holds stays through `close()` and a new `open()`.
 */
export class MemoryStorage implements Storage {
  readonly capabilities: StorageCapabilities = { durable: false, shared: false, provesDeath: false };

  readonly #identity = randomUUID();
  readonly #runs = new RunTable();
  readonly #schedules = new ScheduleTable();
  readonly #limits = new Map<string, { readonly revision: number; readonly limit: number | null }>();
  readonly #definitions = new Map<string, StoredDefinition>();
  readonly #engines = new Set<string>();
  readonly #listeners = new ChangeListeners();
  #isOpen = false;

  async open(): Promise<void> {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#engines.clear();
    this.#listeners.clear();
  }

  async readIdentity(): Promise<string> {
    this.#assertOpen();
    return this.#identity;
  }

  async registerEngine(owner: string): Promise<void> {
    this.#assertOpen();
    this.#engines.add(owner);
  }

  async unregisterEngine(owner: string): Promise<void> {
    this.#assertOpen();
    this.#engines.delete(owner);
  }

  async releaseDeadEngines(_now: number): Promise<ReleasedRun[]> {
    this.#assertOpen();
    return [];
  }

  async storeDefinition(definition: StoredDefinition): Promise<void> {
    this.#assertOpen();
    if (!this.#definitions.has(definition.hash)) this.#definitions.set(definition.hash, { ...definition });
  }

  async readDefinition(hash: string): Promise<StoredDefinition | undefined> {
    this.#assertOpen();
    return this.#definitions.get(hash);
  }

  async setWorkflowLimit(workflow: string, revision: number, limit: number | null): Promise<void> {
    this.#assertOpen();
    const stored = this.#limits.get(workflow);
    if (stored !== undefined && stored.revision > revision) return;
    this.#limits.set(workflow, { revision, limit });
    this.#changed();
  }

  async unfinishedHashes(workflow: string, revision: number, hash: string): Promise<string[]> {
    this.#assertOpen();
    const hashes = this.#runs.unfinishedHashes(workflow, revision);
    hashes.delete(hash);
    return [...hashes].sort();
  }

  async enqueueRun(run: NewRun): Promise<Enqueued> {
    this.#assertOpen();
    return this.#enqueue(run);
  }

  async startRun(run: NewRun, claim: Claim, first: FirstUnit): Promise<Started> {
    this.#assertOpen();
    assertClaim(claim);
    const holder = this.#holderOf(run);
    if (holder !== undefined) return { run: holder, created: false, claimed: undefined };
    if (run.nextId !== undefined && this.#runs.byId(run.id) !== undefined) {
      return { ...this.#enqueue(run), claimed: undefined };
    }
    // All that can fail comes before the first change.
    assertFollow(first.entries, 0, run.id);
    this.#runs.withFreePlace([run, ...(first.children ?? [])]);
    const enqueued = this.#enqueue(run);
    const [claimed] = this.#claim({ ...claim, limit: 1 });
    if (claimed?.run === enqueued.run.run) this.#write(this.#runs.mustGet(claimed.run), first);
    return { ...enqueued, claimed };
  }

  #holderOf(run: NewRun): RunRecord | undefined {
    const holder =
      (run.key === null ? undefined : this.#runs.byKey(run.workflow, run.key)) ??
      (run.parent === undefined ? undefined : this.#runs.byPlace(run.parent));
    return holder?.record;
  }

  #enqueue(run: NewRun): Enqueued {
    const holder = this.#holderOf(run);
    if (holder !== undefined) return { run: holder, created: false };
    const { record } = this.#runs.insert(run);
    this.#changed();
    return { run: record, created: true };
  }

  async claimRuns(claim: Claim): Promise<RunRecord[]> {
    this.#assertOpen();
    assertClaim(claim);
    return this.#claim(claim);
  }

  #claim(claim: Claim): RunRecord[] {
    const { owner, leaseExpiresAt, now, only } = claim;
    this.#runs.requeueExpired(now);
    return claimFrom(
      {
        head: (queue) => {
          const first = this.#runs.firstOf(queue, only);
          return first === undefined || first.dueAt > now
            ? undefined
            : { ...this.#runs.mustGet(first.run).record, ...first };
        },
        hasSuspect: (dueBy) =>
          claim.hashes.some((hash) => (this.#runs.firstOf({ hash, suspects: true }, only)?.dueAt ?? Infinity) <= dueBy),
        freePlaces: (workflow) =>
          (this.#limits.get(workflow)?.limit ?? Infinity) - this.#runs.countLeased(workflow, now),
        lease: ({ run }, interruptions) => {
          const held = this.#runs.mustGet(run);
          const { status, startedAt, epoch } = held.record;
          this.#runs.noteQueued(held);
          return this.#runs.update(held, {
            status: statusWhenClaimed(status),
            startedAt: startedAt ?? now,
            epoch: epoch + 1,
            owner,
            leaseExpiresAt,
            dueAt: leaseExpiresAt,
            interruptions,
          });
        },
        postpone: ({ run }, interruptions, delayMs) => {
          const changes = { owner: null, leaseExpiresAt: null, interruptions, dueAt: now + delayMs };
          this.#runs.update(this.#runs.mustGet(run), changes);
          this.#changed();
        },
      },
      claim,
    );
  }

  #keepsPlace({ workflow, leaseExpiresAt }: RunRecord, now: number): boolean {
    if ((leaseExpiresAt ?? 0) > now) return true;
    return this.#runs.countLeased(workflow, now) < (this.#limits.get(workflow)?.limit ?? Infinity);
  }

  async renewLeases(owner: string, leases: readonly Lease[], expiresAt: number, now: number): Promise<number[]> {
    this.#assertOpen();
    const lost: number[] = [];
    for (const lease of leases) {
      const held = this.#runs.heldBy(owner, lease);
      if (held === undefined || !this.#keepsPlace(held.record, now)) lost.push(lease.run);
      else this.#runs.update(held, { leaseExpiresAt: expiresAt, dueAt: expiresAt });
    }
    return lost;
  }

  async releaseRuns(owner: string, leases: readonly Lease[], now: number): Promise<void> {
    this.#assertOpen();
    for (const lease of leases) {
      const held = this.#runs.heldBy(owner, lease);
      if (held === undefined) continue;
      this.#runs.update(held, { owner: null, leaseExpiresAt: null, dueAt: Math.min(this.#runs.queuedAt(held), now) });
      this.#changed();
    }
  }

  async commitUnits(units: readonly Unit[]): Promise<UnitResult[]> {
    this.#assertOpen();
    const results: UnitResult[] = [];
    const errors: unknown[] = [];
    for (const unit of units) {
      try {
        results.push(this.#commitUnit(unit));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return results;
  }

  async readJournal(run: number, afterSeq: number, limit: number): Promise<JournalRow[]> {
    this.#assertOpen();
    return this.#runs.get(run)?.journal.slice(afterSeq, afterSeq + limit) ?? [];
  }

  async readEntries(run: number, steps: readonly string[]): Promise<JournalRow[]> {
    this.#assertOpen();
    const wanted = new Set<string | null>(steps);
    return this.#runs.get(run)?.journal.filter(({ step }) => wanted.has(step)) ?? [];
  }

  async postInbox<Refusal = never>(runId: string, post: InboxPost<Refusal>): Promise<PostResult<Refusal>> {
    this.#assertOpen();
    const stored = this.#runs.byId(runId);
    if (stored === undefined) return { kind: 'unknown' };
    if (isTerminal(stored.record.status)) return { kind: 'ended', run: stored.record };
    const { kind, name, payload, guard } = post;
    const now = post.now();
    if (guard !== undefined) {
      const wanted = new Set<string | null>([...guard.steps, null]);
      const entries = stored.journal.filter(({ step }) => wanted.has(step));
      const refusal = guard.refuse({ run: stored.record, now, messages: [...stored.inbox], entries });
      if (refusal !== undefined) return { kind: 'refused', refusal };
    }
    return { kind: 'posted', message: this.#deliver(stored, { kind, name, payload, at: now }) };
  }

  async readInbox(run: number, afterSeq: number): Promise<InboxMessage[]> {
    this.#assertOpen();
    return this.#runs.get(run)?.inbox.slice(afterSeq) ?? [];
  }

  async resumeRun(resumption: Resumption): Promise<RunRecord | undefined> {
    this.#assertOpen();
    if (!canResume(resumption, (id) => this.#runs.byId(id)?.record)) return undefined;
    const assertSound = ({ run, entries, children = [] }: Resumption): void => {
      assertFollow(entries, 0, run.id);
      children.forEach(assertSound);
    };
    assertSound(resumption);
    const resumed = this.#goOn(resumption);
    this.#changed();
    return resumed.record;
  }

  #goOn({ from, run, entries, messages = [], children = [] }: Resumption): StoredRun {
    const old = this.#runs.byId(from);
    if (old === undefined) throw new RangeError(`there is no run ${from}`);
    const stored = this.#runs.insertInsteadOf(old, run);
    append(stored, entries);
    for (const message of messages) this.#deliver(stored, message);
    for (const child of children) this.#goOn(child);
    return stored;
  }

  async registerSchedules(
    workflow: string,
    revision: number,
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<void> {
    this.#assertOpen();
    if (this.#schedules.register(workflow, revision, schedules, now)) this.#changed();
  }

  async listSchedules(workflows?: readonly string[]): Promise<ScheduleRecord[]> {
    this.#assertOpen();
    return this.#schedules.list(workflows);
  }

  async fireSchedule({ workflow, id, at, nextAt, run }: Firing): Promise<FiringResult> {
    this.#assertOpen();
    const schedule = this.#schedules.get(workflow, id);
    if (schedule === undefined || schedule.paused || schedule.nextAt !== at || schedule.revision > run.revision) {
      return { kind: 'lost' };
    }
    const isFired = run.key !== null && this.#runs.byKey(run.workflow, run.key) !== undefined;
    const record = isFired || this.#isHeldBack(schedule) ? undefined : this.#runs.insert(run).record;
    this.#schedules.update(workflow, id, { nextAt });
    this.#changed();
    return record === undefined ? { kind: 'skipped' } : { kind: 'fired', run: record };
  }

  async pauseSchedule(workflow: string, id: string, paused: boolean, nextAt?: number | null): Promise<boolean> {
    this.#assertOpen();
    this.#changed();
    return this.#schedules.update(workflow, id, { paused, ...(nextAt === undefined ? {} : { nextAt }) });
  }

  async cleanup(query: RetentionQuery): Promise<number> {
    this.#assertOpen();
    const runs = retainedNoMore(this.#runs, query, { alsoArchived: true });
    for (const run of runs) this.#runs.remove(run);
    return runs.length;
  }

  async archive(query: RetentionQuery, now: number): Promise<number> {
    this.#assertOpen();
    const tree = retainedNoMore(this.#runs, query, { alsoArchived: false });
    const runs = tree.filter(({ record }) => record.archivedAt === null);
    for (const run of runs) this.#runs.update(run, { archivedAt: now });
    return runs.length;
  }

  async countArchived(): Promise<number> {
    this.#assertOpen();
    return [...this.#runs.all()].filter(({ record }) => record.archivedAt !== null).length;
  }

  async survey(owner: string, hashes: readonly string[], now: number): Promise<Survey> {
    this.#assertOpen();
    const unfinished = [...this.#runs.unfinished()].map(({ record }) => record).sort((a, b) => a.run - b.run);
    const known = unfinished.filter(({ definitionHash }) => hashes.includes(definitionHash));
    return {
      parked: known.filter((record) => isParked(record, now)).length,
      orphans: unfinished
        .filter(({ parentId }) => parentId !== null && this.#runs.byId(parentId) === undefined)
        .map(({ id }) => id),
      withoutDefinition: unfinished.filter(({ definitionHash }) => !hashes.includes(definitionHash)),
      suspects: unfinished.filter(isSuspect).map(({ id }) => id),
      othersAlive: [...this.#runs.leased()].some(
        ({ record }) => record.owner !== owner && (record.leaseExpiresAt ?? 0) > now,
      ),
    };
  }

  async listChildren(parentId: string): Promise<RunRecord[]> {
    this.#assertOpen();
    return this.#runs.childrenOf(parentId).map(({ record }) => record);
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    this.#assertOpen();
    return this.#runs.byId(id)?.record;
  }

  async getRunByKey(workflow: string, key: string): Promise<RunRecord | undefined> {
    this.#assertOpen();
    return this.#runs.byKey(workflow, key)?.record;
  }

  async listRuns(query: RunQuery): Promise<{ runs: RunRecord[]; cursor?: string }> {
    this.#assertOpen();
    const limit = query.limit ?? defaultListLimit;
    const matching = this.#runs.list(query);
    const runs = matching.slice(0, limit);
    const last = runs.at(-1);
    return matching.length > runs.length && last !== undefined ? { runs, cursor: encodeCursor(last) } : { runs };
  }

  async nextDueAt(hashes: readonly string[], only?: string): Promise<number | undefined> {
    this.#assertOpen();
    const dueTimes = hashes.flatMap((hash) =>
      [false, true].map((suspects) => this.#runs.firstOf({ hash, suspects }, only)?.dueAt ?? Infinity),
    );
    const earliest = Math.min(...dueTimes);
    return earliest === Infinity ? undefined : earliest;
  }

  onForeignChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Who dies here takes the storage along. */
  onEngineDeath(_listener: () => void): () => void {
    return () => {};
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw stoppedError();
  }

  /** With a single engine there is nobody else who could have made the change. */
  #changed(): void {
    if (this.#engines.size > 1) this.#listeners.notify();
  }

  /** By the overlap rule. */
  #isHeldBack({ workflow, id, overlap }: ScheduleRecord): boolean {
    if (overlap === 'allow') return false;
    return [...this.#runs.unfinished()].some(
      ({ record }) =>
        record.workflow === workflow && record.scheduleId === id && (overlap === 'skip' || record.status === 'pending'),
    );
  }

  #commitUnit(unit: Unit): UnitResult {
    const stored = this.#runs.get(unit.run);
    const refusal = refusalOf(unit, stored?.record);
    if (refusal !== undefined || stored === undefined) return refusal ?? 'lease-lost';
    this.#write(stored, unit);
    return 'committed';
  }

  #write(
    stored: StoredRun,
    { entries, progress, transition, children, posts, reopen }: FirstUnit & Pick<Unit, 'progress'>,
  ): void {
    // All that can fail comes before the first change.
    assertFollow(entries, stored.journal.length, stored.record.id);
    const inserted = this.#runs.withFreePlace(children ?? []);

    append(stored, entries);
    if (progress === true) this.#runs.update(stored, { interruptions: 0 });
    if (transition !== undefined) this.#apply(stored, transition);
    for (const child of inserted) {
      this.#runs.insert(child);
      this.#changed();
    }
    for (const { runId, message } of posts ?? []) {
      const target = this.#runs.byId(runId);
      if (target !== undefined && !isTerminal(target.record.status)) this.#deliver(target, message);
    }
    for (const { runId, dueAt } of reopen ?? []) this.#reopen(runId, dueAt);
  }

  #deliver(stored: StoredRun, { kind, name, payload, at }: NewInboxMessage): InboxMessage {
    const { record } = stored;
    const message: InboxMessage = { seq: record.inboxSeq + 1, kind, name, payload, at };
    stored.inbox.push(message);
    const dueAt = record.owner === null ? Math.min(record.dueAt ?? at, at) : record.dueAt;
    this.#runs.update(stored, { inboxSeq: message.seq, dueAt });
    this.#changed();
    return message;
  }

  #reopen(runId: string, dueAt: number): void {
    const stored = this.#runs.byId(runId);
    if (stored === undefined || !canReopen(stored.record)) return;
    this.#runs.update(stored, {
      status: 'compensating',
      rollbackStatus: 'owed',
      dueAt,
      endedAt: null,
      archivedAt: null,
    });
    this.#changed();
  }

  #apply(stored: StoredRun, transition: Transition): void {
    switch (transition.kind) {
      case 'park': {
        const { status, dueAt, rollbackStatus = stored.record.rollbackStatus } = transition;
        this.#runs.update(stored, { status, dueAt, rollbackStatus, owner: null, leaseExpiresAt: null });
        return this.#changed();
      }
      case 'end': {
        const { status, output, error, rollbackStatus, endedAt } = transition;
        const ended = { status, output, error, rollbackStatus, endedAt };
        this.#runs.update(stored, { ...ended, dueAt: null, owner: null, leaseExpiresAt: null });
        return this.#changed();
      }
      case 'status': {
        const { status, rollbackStatus = stored.record.rollbackStatus, error = stored.record.error } = transition;
        this.#runs.update(stored, { status, rollbackStatus, error });
        return;
      }
    }
  }
}

function append(stored: StoredRun, entries: readonly JournalRow[]): void {
  // One by one: as arguments of a single push, a long journal would overflow the stack.
  for (const entry of entries) stored.journal.push({ ...entry });
}
