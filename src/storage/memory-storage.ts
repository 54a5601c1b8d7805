import { RunsheetError } from '../common/index.js';
import { ChangeListeners } from './change-listeners.js';
import type {
  Claim,
  InboxMessage,
  JournalRow,
  Lease,
  NewInboxMessage,
  NewRun,
  ReleasedRun,
  RunQuery,
  RunRecord,
  Storage,
  StorageCapabilities,
  StoredDefinition,
  Transition,
  Unit,
  UnitResult,
} from './contract.js';
import { type Due, DueQueue, isBefore } from './due-queue.js';
import { decodeCursor, encodeCursor } from './run-cursor.js';
import { assertClaim, defaultListLimit, isTerminal, refusalOf, statusWhenClaimed, stoppedError } from './run-rules.js';

/** A run with all that belongs to it. `record` is replaced, never changed, so that it can be handed out. */
interface StoredRun {
  record: RunRecord;
  readonly journal: JournalRow[];
  readonly inbox: InboxMessage[];
}

/**
 * Everything in this object and gone with it; for tests, and for flows that need not outlive the
 * process. Several engines may share one. What it holds stays through `close()` and a new `open()`.
 */
export class MemoryStorage implements Storage {
  readonly capabilities: StorageCapabilities = { durable: false, shared: false, provesDeath: false };

  readonly #runs: StoredRun[] = [];
  readonly #byId = new Map<string, StoredRun>();
  readonly #byKey = new Map<string, StoredRun>();
  /** By definition; what claims look at. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #leased = new Set<StoredRun>();
  readonly #unfinished = new Set<StoredRun>();
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

  async unfinishedHashes(workflow: string, revision: number, hash: string): Promise<string[]> {
    this.#assertOpen();
    const hashes = new Set<string>();
    for (const { record } of this.#unfinished) {
      if (record.workflow === workflow && record.revision === revision) hashes.add(record.definitionHash);
    }
    hashes.delete(hash);
    return [...hashes].sort();
  }

  async enqueueRun(run: NewRun): Promise<{ run: RunRecord; created: boolean }> {
    this.#assertOpen();
    const key = run.key === null ? undefined : keyOf(run.workflow, run.key);
    const holder = key === undefined ? undefined : this.#byKey.get(key);
    if (holder !== undefined) return { run: holder.record, created: false };
    if (this.#byId.has(run.id)) {
      throw new RunsheetError('RS_STORAGE_FAILED', `Run ${run.id} exists already; a new run needs an id of its own.`);
    }

    const stored: StoredRun = { record: newRecord(this.#runs.length + 1, run), journal: [], inbox: [] };
    this.#runs.push(stored);
    this.#byId.set(run.id, stored);
    if (key !== undefined) this.#byKey.set(key, stored);
    this.#unfinished.add(stored);
    this.#queueOf(run.definitionHash).put({ dueAt: run.dueAt, run: stored.record.run });
    this.#changed();
    return { run: stored.record, created: true };
  }

  async claimRuns(claim: Claim): Promise<RunRecord[]> {
    this.#assertOpen();
    assertClaim(claim);
    const places = this.#freePlaces(claim);
    // A definition's queue leaves the merge when its workflow is full or none of it is due.
    const hashes = new Set(claim.hashes);
    const claimed: RunRecord[] = [];
    while (claimed.length < claim.limit) {
      const stored = this.#oldestDue(hashes, claim);
      if (stored === undefined) break;
      const { record } = stored;
      const free = places.get(record.workflow) ?? Infinity;
      if (free <= 0) {
        hashes.delete(record.definitionHash);
        continue;
      }
      places.set(record.workflow, free - 1);
      const { owner, leaseExpiresAt, now } = claim;
      claimed.push(
        this.#update(stored, {
          status: statusWhenClaimed(record.status),
          startedAt: record.startedAt ?? now,
          epoch: record.epoch + 1,
          owner,
          leaseExpiresAt,
          dueAt: leaseExpiresAt,
        }),
      );
    }
    return claimed;
  }

  async renewLeases(owner: string, leases: readonly Lease[], expiresAt: number): Promise<number[]> {
    this.#assertOpen();
    const lost: number[] = [];
    for (const lease of leases) {
      const held = this.#heldBy(owner, lease);
      if (held === undefined) lost.push(lease.run);
      else this.#update(held, { leaseExpiresAt: expiresAt, dueAt: expiresAt });
    }
    return lost;
  }

  async releaseRuns(owner: string, leases: readonly Lease[], now: number): Promise<void> {
    this.#assertOpen();
    for (const lease of leases) {
      const held = this.#heldBy(owner, lease);
      if (held === undefined) continue;
      this.#update(held, { owner: null, leaseExpiresAt: null, dueAt: now });
      this.#changed();
    }
  }

  async commitUnits(units: readonly Unit[]): Promise<UnitResult[]> {
    this.#assertOpen();
    const outcomes = units.map((unit): UnitResult | RunsheetError => this.#commitUnit(unit));
    for (const outcome of outcomes) if (outcome instanceof RunsheetError) throw outcome;
    return outcomes as UnitResult[];
  }

  async readJournal(run: number, afterSeq: number, limit: number): Promise<JournalRow[]> {
    this.#assertOpen();
    // Numbered from 1 without gaps.
    return this.#runs[run - 1]?.journal.slice(afterSeq, afterSeq + limit) ?? [];
  }

  async postInbox(runId: string, message: NewInboxMessage): Promise<InboxMessage | undefined> {
    this.#assertOpen();
    const stored = this.#byId.get(runId);
    if (stored === undefined || isTerminal(stored.record.status)) return undefined;
    const { record } = stored;
    const posted: InboxMessage = { ...message, seq: record.inboxSeq + 1 };
    stored.inbox.push(posted);
    const dueAt = record.owner === null ? Math.min(record.dueAt ?? message.at, message.at) : record.dueAt;
    this.#update(stored, { inboxSeq: posted.seq, dueAt });
    this.#changed();
    return posted;
  }

  async readInbox(run: number, afterSeq: number): Promise<InboxMessage[]> {
    this.#assertOpen();
    return this.#runs[run - 1]?.inbox.slice(afterSeq) ?? [];
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    this.#assertOpen();
    return this.#byId.get(id)?.record;
  }

  async getRunByKey(workflow: string, key: string): Promise<RunRecord | undefined> {
    this.#assertOpen();
    return this.#byKey.get(keyOf(workflow, key))?.record;
  }

  async listRuns(query: RunQuery): Promise<{ runs: RunRecord[]; cursor?: string }> {
    this.#assertOpen();
    const limit = query.limit ?? defaultListLimit;
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
    const matching = this.#runs
      .map(({ record }) => record)
      .filter((record) => query.workflow === undefined || record.workflow === query.workflow)
      .filter((record) => query.statuses === undefined || query.statuses.includes(record.status))
      .filter((record) => query.since === undefined || record.createdAt >= query.since)
      .sort((a, b) => b.createdAt - a.createdAt || b.run - a.run)
      .filter(
        ({ createdAt, run }) =>
          after === undefined || createdAt < after.createdAt || (createdAt === after.createdAt && run < after.run),
      );
    const runs = matching.slice(0, limit);
    const last = runs.at(-1);
    return matching.length > runs.length && last !== undefined ? { runs, cursor: encodeCursor(last) } : { runs };
  }

  async nextDueAt(hashes: readonly string[]): Promise<number | undefined> {
    this.#assertOpen();
    const earliest = hashes
      .map((hash) => this.#queues.get(hash)?.first()?.dueAt)
      .filter((dueAt) => dueAt !== undefined);
    return earliest.length === 0 ? undefined : Math.min(...earliest);
  }

  onForeignChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw stoppedError();
  }

  /** With a single engine there is nobody else who could have made the change. */
  #changed(): void {
    if (this.#engines.size > 1) this.#listeners.notify();
  }

  #heldBy(owner: string, { run, epoch }: Lease): StoredRun | undefined {
    const stored = this.#runs[run - 1];
    return stored?.record.owner === owner && stored.record.epoch === epoch ? stored : undefined;
  }

  #freePlaces({ limits, now }: Claim): Map<string, number> {
    const places = new Map(limits);
    if (places.size === 0) return places;
    for (const { record } of this.#leased) {
      const free = places.get(record.workflow);
      if (free !== undefined && record.leaseExpiresAt !== null && record.leaseExpiresAt > now) {
        places.set(record.workflow, free - 1);
      }
    }
    return places;
  }

  #oldestDue(hashes: ReadonlySet<string>, { now, only }: Claim): StoredRun | undefined {
    if (only !== undefined) {
      const stored = this.#byId.get(only);
      const isDue = stored !== undefined && stored.record.dueAt !== null && stored.record.dueAt <= now;
      return isDue && hashes.has(stored.record.definitionHash) ? stored : undefined;
    }
    let oldest: Due | undefined;
    for (const hash of hashes) {
      const first = this.#queues.get(hash)?.first();
      if (first !== undefined && first.dueAt <= now && (oldest === undefined || isBefore(first, oldest)))
        oldest = first;
    }
    return oldest === undefined ? undefined : this.#runs[oldest.run - 1];
  }

  /** The only place where a run changes, so that what is kept about it stays true. */
  #update(stored: StoredRun, changes: Partial<RunRecord>): RunRecord {
    const record: RunRecord = { ...stored.record, ...changes };
    stored.record = record;
    if (changes.dueAt !== undefined && record.dueAt !== null)
      this.#queueOf(record.definitionHash).put({ dueAt: record.dueAt, run: record.run });
    if (record.owner === null) this.#leased.delete(stored);
    else this.#leased.add(stored);
    if (isTerminal(record.status)) this.#unfinished.delete(stored);
    return record;
  }

  #queueOf(hash: string): DueQueue {
    let queue = this.#queues.get(hash);
    if (queue === undefined) {
      queue = new DueQueue(({ run, dueAt }) => this.#runs[run - 1]?.record.dueAt === dueAt);
      this.#queues.set(hash, queue);
    }
    return queue;
  }

  #commitUnit(unit: Unit): UnitResult | RunsheetError {
    const stored = this.#runs[unit.run - 1];
    const refusal = refusalOf(unit, stored?.record);
    if (refusal !== undefined || stored === undefined) return refusal ?? 'lease-lost';
    const lastSeq = stored.journal.at(-1)?.seq ?? 0;
    if (unit.entries.some(({ seq }, index) => seq !== lastSeq + 1 + index)) {
      const given = unit.entries.map(({ seq }) => seq).join(', ');
      return new RunsheetError(
        'RS_STORAGE_FAILED',
        `The journal of run ${stored.record.id} ends with entry ${lastSeq}; entries ${given} do not follow it.`,
      );
    }
    stored.journal.push(...unit.entries.map((entry) => ({ ...entry })));
    if (unit.transition !== undefined) this.#apply(stored, unit.transition);
    return 'committed';
  }

  #apply(stored: StoredRun, transition: Transition): void {
    switch (transition.kind) {
      case 'park': {
        const { status, dueAt, rollbackStatus = stored.record.rollbackStatus } = transition;
        this.#update(stored, { status, dueAt, rollbackStatus, owner: null, leaseExpiresAt: null });
        return this.#changed();
      }
      case 'end': {
        const { status, output, error, rollbackStatus, endedAt } = transition;
        const ended = { status, output, error, rollbackStatus, endedAt };
        this.#update(stored, { ...ended, dueAt: null, owner: null, leaseExpiresAt: null });
        return this.#changed();
      }
      case 'status': {
        const { status, rollbackStatus = stored.record.rollbackStatus } = transition;
        this.#update(stored, { status, rollbackStatus });
        return;
      }
    }
  }
}

function keyOf(workflow: string, key: string): string {
  return JSON.stringify([workflow, key]);
}

function newRecord(run: number, { id, workflow, revision, definitionHash, key, input, createdAt, dueAt }: NewRun) {
  const record: RunRecord = {
    run,
    id,
    workflow,
    revision,
    definitionHash,
    key,
    status: 'pending',
    rollbackStatus: null,
    input,
    output: null,
    error: null,
    createdAt,
    startedAt: null,
    endedAt: null,
    dueAt,
    owner: null,
    epoch: 0,
    leaseExpiresAt: null,
    inboxSeq: 0,
  };
  return record;
}
