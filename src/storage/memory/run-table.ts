import { RunsheetError } from '../../common/index.js';
import type { ClaimQueue } from '../claim-merge.js';
import type { InboxMessage, JournalRow, Lease, NewRun, ParentPlace, RunQuery, RunRecord } from '../contract.js';
import { decodeCursor } from '../run-cursor.js';
import { pendingRecord } from '../pending-record.js';
import { isSuspect, isTerminal, withFreeId } from '../run-rules.js';
import { type Due, DueQueue, isBefore } from './due-queue.js';

/** A run with all that belongs to it. `record` is replaced, never changed, so that it can be handed out. */
export interface StoredRun {
  readonly record: RunRecord;
  /** Entry n is at index n − 1. */
  readonly journal: JournalRow[];
  /** Message n is at index n − 1. */
  readonly inbox: InboxMessage[];
}

/** All runs, and the ways to find them. */
export class RunTable {
  /** By number, in order of insertion. */
  readonly #runs = new Map<number, { record: RunRecord; journal: JournalRow[]; inbox: InboxMessage[] }>();
  #lastRun = 0;
  /** By everything that must be unique: id, key in a workflow, place in a parent. */
  readonly #byName = new Map<string, StoredRun>();
  readonly #children = new Map<string, StoredRun[]>();
  /** By definition, suspects apart. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #leased = new Set<StoredRun>();
  readonly #unfinished = new Set<StoredRun>();
  /** By number: when a leased run was due before it was claimed. */
  readonly #queuedAt = new Map<number, number>();

  get(run: number): StoredRun | undefined {
    return this.#runs.get(run);
  }

  mustGet(run: number): StoredRun {
    const stored = this.#runs.get(run);
    if (stored === undefined) throw new RangeError(`There is no run number ${run}.`);
    return stored;
  }

  all(): Iterable<StoredRun> {
    return this.#runs.values();
  }

  unfinished(): Iterable<StoredRun> {
    return this.#unfinished;
  }

  leased(): Iterable<StoredRun> {
    return this.#leased;
  }

  byId(id: string): StoredRun | undefined {
    return this.#byName.get(idName(id));
  }

  byKey(workflow: string, key: string): StoredRun | undefined {
    return this.#byName.get(keyName(workflow, key));
  }

  byPlace(place: ParentPlace): StoredRun | undefined {
    return this.#byName.get(placeName(place));
  }

  childrenOf(parentId: string): readonly StoredRun[] {
    return this.#children.get(parentId) ?? [];
  }

  heldBy(owner: string, { run, epoch }: Lease): StoredRun | undefined {
    const stored = this.get(run);
    return stored?.record.owner === owner && stored.record.epoch === epoch ? stored : undefined;
  }

  /** Those whose place in their parent is free. Throws if one of them could not be inserted after the ones before it. */
  withFreePlace(runs: readonly NewRun[]): NewRun[] {
    const names = new Set<string>();
    const isTaken = (name: string) => names.has(name) || this.#byName.has(name);
    return runs.filter((run) => {
      if (run.parent !== undefined && isTaken(placeName(run.parent))) return false;
      assertFree(run, isTaken);
      for (const name of namesOf(run)) names.add(name);
      return true;
    });
  }

  /** Throws if its id, key or place is taken. */
  insert(given: NewRun, resumedFrom: string | null = null): StoredRun {
    const run = withFreeId(given, (id) => this.#byName.has(idName(id)));
    assertFree(run, (name) => this.#byName.has(name));
    this.#lastRun += 1;
    const stored = { record: pendingRecord(this.#lastRun, run, resumedFrom), journal: [], inbox: [] };
    this.#runs.set(this.#lastRun, stored);
    for (const name of namesOf(run)) this.#byName.set(name, stored);
    if (run.parent !== undefined) {
      const siblings = this.#children.get(run.parent.id);
      if (siblings === undefined) this.#children.set(run.parent.id, [stored]);
      else siblings.push(stored);
    }
    this.#unfinished.add(stored);
    this.#queueOf({ hash: run.definitionHash, suspects: false }).put({ dueAt: run.dueAt, run: stored.record.run });
    return stored;
  }

  /**
   * A new run that takes over an old one, and its key. Throws, with nothing changed, if the id or the place of the
   * new one is taken.
   */
  insertInsteadOf(old: StoredRun, run: NewRun): StoredRun {
    const { id, workflow, key } = old.record;
    const passing = key === null ? undefined : keyName(workflow, key);
    assertFree({ ...run, key }, (name) => name !== passing && this.#byName.has(name));
    if (passing !== undefined) this.#byName.delete(passing);
    this.update(old, { key: null, resumedBy: run.id });
    return this.insert({ ...run, key }, id);
  }

  /** The only place where a run changes, so that what is kept about it stays true (its names excepted). */
  /** It is about to be leased: where that ends before the run does, it stands in the order as it does now. */
  noteQueued({ record: { run, owner, dueAt } }: StoredRun): void {
    if (dueAt !== null && (owner === null || !this.#queuedAt.has(run))) this.#queuedAt.set(run, dueAt);
  }

  /** Infinite where that is not known. */
  queuedAt({ record: { run } }: StoredRun): number {
    return this.#queuedAt.get(run) ?? Number.POSITIVE_INFINITY;
  }

  requeueExpired(now: number): void {
    for (const stored of this.#leased) {
      const { leaseExpiresAt, dueAt } = stored.record;
      const queuedAt = this.queuedAt(stored);
      if ((leaseExpiresAt ?? now + 1) <= now && queuedAt < (dueAt ?? 0)) this.update(stored, { dueAt: queuedAt });
    }
  }

  update({ record: { run } }: StoredRun, changes: Partial<RunRecord>): RunRecord {
    const stored = this.#runs.get(run);
    if (stored === undefined) throw new RangeError(`There is no run number ${run}.`);
    const record: RunRecord = { ...stored.record, ...changes };
    const suspects = isSuspect(record);
    const isMoved = changes.dueAt !== undefined || suspects !== isSuspect(stored.record);
    stored.record = record;
    if (isMoved && record.dueAt !== null) {
      this.#queueOf({ hash: record.definitionHash, suspects }).put({ dueAt: record.dueAt, run });
    }
    if (record.owner === null) this.#leased.delete(stored);
    else this.#leased.add(stored);
    if (isTerminal(record.status)) this.#queuedAt.delete(run);
    if (isTerminal(record.status)) this.#unfinished.delete(stored);
    else this.#unfinished.add(stored);
    return record;
  }

  unfinishedHashes(workflow: string, revision: number): Set<string> {
    const hashes = new Set<string>();
    for (const { record } of this.#unfinished) {
      if (record.workflow === workflow && record.revision === revision) hashes.add(record.definitionHash);
    }
    return hashes;
  }

  /** For good, with its journal, inbox and names. */
  remove(stored: StoredRun): void {
    const { run, id, workflow, key, parentId, parentStep, parentOccurrence } = stored.record;
    this.#runs.delete(run);
    this.#leased.delete(stored);
    this.#unfinished.delete(stored);
    this.#byName.delete(idName(id));
    if (key !== null) this.#byName.delete(keyName(workflow, key));
    if (parentId === null || parentStep === null || parentOccurrence === null) return;
    this.#byName.delete(placeName({ id: parentId, step: parentStep, occurrence: parentOccurrence }));
    const siblings = this.childrenOf(parentId).filter((sibling) => sibling !== stored);
    if (siblings.length === 0) this.#children.delete(parentId);
    else this.#children.set(parentId, siblings);
  }

  /** A run and those that it owns, at any depth; a parent before its children. */
  family(root: StoredRun): StoredRun[] {
    const family = [root];
    // Grows while it is walked through.
    for (const { record } of family) for (const child of this.childrenOf(record.id)) family.push(child);
    return family;
  }

  /** What is due first of a queue, due or not; with `only`, of this run (by id) and those that it owns. */
  firstOf({ hash, suspects }: ClaimQueue, only: string | undefined): Due | undefined {
    if (only === undefined) return this.#queues.get(queueName(hash, suspects))?.first();
    let first: Due | undefined;
    const root = this.byId(only);
    for (const { record } of root === undefined ? [] : this.family(root)) {
      const { run, dueAt, definitionHash } = record;
      if (dueAt === null || definitionHash !== hash || isSuspect(record) !== suspects) continue;
      if (first === undefined || isBefore({ run, dueAt }, first)) first = { run, dueAt };
    }
    return first;
  }

  /** How many runs of a workflow have a lease that has not expired. */
  countLeased(workflow: string, now: number): number {
    let count = 0;
    for (const { record } of this.#leased) {
      if (record.workflow === workflow && (record.leaseExpiresAt ?? 0) > now) count += 1;
    }
    return count;
  }

  /** Newest first, from the cursor to the end. */
  list({ workflow, statuses, since, cursor, archived = false }: RunQuery): RunRecord[] {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    return [...this.#runs.values()]
      .map(({ record }) => record)
      .filter((record) => (record.archivedAt !== null) === archived)
      .filter((record) => workflow === undefined || record.workflow === workflow)
      .filter((record) => statuses === undefined || statuses.includes(record.status))
      .filter((record) => since === undefined || record.createdAt >= since)
      .filter((record) => after === undefined || newestFirst(after, record) < 0)
      .sort(newestFirst);
  }

  #queueOf({ hash, suspects }: ClaimQueue): DueQueue {
    const name = queueName(hash, suspects);
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new DueQueue(({ run, dueAt }) => {
        const record = this.get(run)?.record;
        return record?.dueAt === dueAt && isSuspect(record) === suspects;
      });
      this.#queues.set(name, queue);
    }
    return queue;
  }
}

type Creation = Pick<RunRecord, 'createdAt' | 'run'>;

function newestFirst(a: Creation, b: Creation): number {
  return b.createdAt - a.createdAt || b.run - a.run;
}

function queueName(hash: string, suspects: boolean): string {
  return `${suspects ? 'suspects' : 'runs'} ${hash}`;
}

function idName(id: string): string {
  return `id ${id}`;
}

function keyName(workflow: string, key: string): string {
  return `key ${JSON.stringify([workflow, key])}`;
}

function placeName({ id, step, occurrence }: ParentPlace): string {
  return `place ${JSON.stringify([id, step, occurrence])}`;
}

function namesOf({ id, workflow, key, parent }: NewRun): string[] {
  const names = [idName(id)];
  if (key !== null) names.push(keyName(workflow, key));
  if (parent !== undefined) names.push(placeName(parent));
  return names;
}

function assertFree(run: NewRun, isTaken: (name: string) => boolean): void {
  const taken = namesOf(run).find(isTaken);
  if (taken === undefined) return;
  throw new RunsheetError(
    'RS_STORAGE_FAILED',
    `Run ${run.id} cannot be inserted: there is a run with its ${taken}; a new run needs one of its own.`,
  );
}
