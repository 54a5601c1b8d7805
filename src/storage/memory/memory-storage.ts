import { RunsheetError } from '../../common/index.js';
import { ChangeListeners } from '../change-listeners.js';
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
} from '../contract.js';
import { encodeCursor } from '../run-cursor.js';
import {
  assertClaim,
  defaultListLimit,
  isTerminal,
  misfitOf,
  refusalOf,
  statusWhenClaimed,
  stoppedError,
} from '../run-rules.js';
import { RunTable, type StoredRun } from './run-table.js';

/**
 * Everything in this object and gone with it; for tests, and for flows that need not outlive the
 * process. Several engines may share one. What it holds stays through `close()` and a new `open()`.
 */
export class MemoryStorage implements Storage {
  readonly capabilities: StorageCapabilities = { durable: false, shared: false, provesDeath: false };

  readonly #runs = new RunTable();
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
    const hashes = this.#runs.unfinishedHashes(workflow, revision);
    hashes.delete(hash);
    return [...hashes].sort();
  }

  async enqueueRun(run: NewRun): Promise<{ run: RunRecord; created: boolean }> {
    this.#assertOpen();
    const holder = run.key === null ? undefined : this.#runs.byKey(run.workflow, run.key);
    if (holder !== undefined) return { run: holder.record, created: false };
    const { record } = this.#runs.insert(run);
    this.#changed();
    return { run: record, created: true };
  }

  async claimRuns(claim: Claim): Promise<RunRecord[]> {
    this.#assertOpen();
    assertClaim(claim);
    const places = this.#runs.freePlaces(claim);
    // A definition's queue leaves the merge when its workflow is full or none of it is due.
    const hashes = new Set(claim.hashes);
    const claimed: RunRecord[] = [];
    while (claimed.length < claim.limit) {
      const stored = this.#runs.oldestDue(hashes, claim);
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
        this.#runs.update(stored, {
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
      const held = this.#runs.heldBy(owner, lease);
      if (held === undefined) lost.push(lease.run);
      else this.#runs.update(held, { leaseExpiresAt: expiresAt, dueAt: expiresAt });
    }
    return lost;
  }

  async releaseRuns(owner: string, leases: readonly Lease[], now: number): Promise<void> {
    this.#assertOpen();
    for (const lease of leases) {
      const held = this.#runs.heldBy(owner, lease);
      if (held === undefined) continue;
      this.#runs.update(held, { owner: null, leaseExpiresAt: null, dueAt: now });
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
    return this.#runs.get(run)?.journal.slice(afterSeq, afterSeq + limit) ?? [];
  }

  async postInbox(runId: string, message: NewInboxMessage): Promise<InboxMessage | undefined> {
    this.#assertOpen();
    const stored = this.#runs.byId(runId);
    if (stored === undefined || isTerminal(stored.record.status)) return undefined;
    const { record } = stored;
    const posted: InboxMessage = { ...message, seq: record.inboxSeq + 1 };
    stored.inbox.push(posted);
    const dueAt = record.owner === null ? Math.min(record.dueAt ?? message.at, message.at) : record.dueAt;
    this.#runs.update(stored, { inboxSeq: posted.seq, dueAt });
    this.#changed();
    return posted;
  }

  async readInbox(run: number, afterSeq: number): Promise<InboxMessage[]> {
    this.#assertOpen();
    return this.#runs.get(run)?.inbox.slice(afterSeq) ?? [];
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

  async nextDueAt(hashes: readonly string[]): Promise<number | undefined> {
    this.#assertOpen();
    const earliest = hashes.map((hash) => this.#runs.earliestDue(hash)).filter((dueAt) => dueAt !== undefined);
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

  #commitUnit(unit: Unit): UnitResult | RunsheetError {
    const stored = this.#runs.get(unit.run);
    const refusal = refusalOf(unit, stored?.record);
    if (refusal !== undefined || stored === undefined) return refusal ?? 'lease-lost';
    const misfit = misfitOf(unit.entries, stored.journal.length, stored.record.id);
    if (misfit !== undefined) return misfit;
    stored.journal.push(...unit.entries.map((entry) => ({ ...entry })));
    if (unit.transition !== undefined) this.#apply(stored, unit.transition);
    return 'committed';
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
        const { status, rollbackStatus = stored.record.rollbackStatus } = transition;
        this.#runs.update(stored, { status, rollbackStatus });
        return;
      }
    }
  }
}
