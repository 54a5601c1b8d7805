import { RunsheetError } from '../../common/index.js';
import type { Claim, InboxMessage, JournalRow, Lease, NewRun, ParentPlace, RunQuery, RunRecord } from '../contract.js';
import { decodeCursor } from '../run-cursor.js';
import { isTerminal } from '../run-rules.js';
import { type Due, DueQueue, isBefore } from './due-queue.js';

/** A run with all that belongs to it. `record` is replaced, never changed, so that it can be handed out. */
export interface StoredRun {
  readonly record: RunRecord;
  /** Entry n is at index n − 1. */
  readonly journal: JournalRow[];
  /** Message n is at index n − 1. */
  readonly inbox: InboxMessage[];
}

export interface DueQuery {
  readonly now: number;
  /** Only this run (by id) and those that it owns. */
  readonly only?: string | undefined;
}

/** All runs, and the ways to find them. */
export class RunTable {
  /** Run n is at index n − 1. */
  readonly #runs: { record: RunRecord; journal: JournalRow[]; inbox: InboxMessage[] }[] = [];
  /** By everything that must be unique: id, key in a workflow, place in a parent. */
  readonly #byName = new Map<string, StoredRun>();
  readonly #children = new Map<string, StoredRun[]>();
  /** By definition. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #leased = new Set<StoredRun>();
  readonly #unfinished = new Set<StoredRun>();

  get(run: number): StoredRun | undefined {
    return this.#runs[run - 1];
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
  insert(run: NewRun, resumedFrom: string | null = null): StoredRun {
    assertFree(run, (name) => this.#byName.has(name));
    const stored = { record: newRecord(this.#runs.length + 1, run, resumedFrom), journal: [], inbox: [] };
    this.#runs.push(stored);
    for (const name of namesOf(run)) this.#byName.set(name, stored);
    if (run.parent !== undefined) {
      const siblings = this.#children.get(run.parent.id);
      if (siblings === undefined) this.#children.set(run.parent.id, [stored]);
      else siblings.push(stored);
    }
    this.#unfinished.add(stored);
    this.#queueOf(run.definitionHash).put({ dueAt: run.dueAt, run: stored.record.run });
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
  update({ record: { run } }: StoredRun, changes: Partial<RunRecord>): RunRecord {
    const stored = this.#runs[run - 1];
    if (stored === undefined) throw new RangeError(`There is no run number ${run}.`);
    const record: RunRecord = { ...stored.record, ...changes };
    stored.record = record;
    if (changes.dueAt !== undefined && record.dueAt !== null) {
      this.#queueOf(record.definitionHash).put({ dueAt: record.dueAt, run });
    }
    if (record.owner === null) this.#leased.delete(stored);
    else this.#leased.add(stored);
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

  /** The run of these definitions that is due first, if it is by now. */
  oldestDue(hashes: ReadonlySet<string>, { now, only }: DueQuery): StoredRun | undefined {
    const heads = only === undefined ? this.#headsOf(hashes) : this.#familyDue(only, hashes);
    let oldest: Due | undefined;
    for (const head of heads) if (head.dueAt <= now && (oldest === undefined || isBefore(head, oldest))) oldest = head;
    return oldest === undefined ? undefined : this.get(oldest.run);
  }

  /** What is left of the limits, by workflow. */
  freePlaces({ limits, now }: Claim): Map<string, number> {
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

  /** Newest first, from the cursor to the end. */
  list({ workflow, statuses, since, cursor }: RunQuery): RunRecord[] {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    return this.#runs
      .map(({ record }) => record)
      .filter((record) => workflow === undefined || record.workflow === workflow)
      .filter((record) => statuses === undefined || statuses.includes(record.status))
      .filter((record) => since === undefined || record.createdAt >= since)
      .filter((record) => after === undefined || newestFirst(after, record) < 0)
      .sort(newestFirst);
  }

  *#headsOf(hashes: ReadonlySet<string>): Iterable<Due> {
    for (const hash of hashes) {
      const first = this.#queues.get(hash)?.first();
      if (first !== undefined) yield first;
    }
  }

  /** When this run and those that it owns are due. */
  *#familyDue(id: string, hashes: ReadonlySet<string>): Iterable<Due> {
    const root = this.byId(id);
    const family = root === undefined ? [] : [root];
    // Grows while it is walked through.
    for (const { record } of family) {
      const { run, dueAt, definitionHash } = record;
      if (dueAt !== null && hashes.has(definitionHash)) yield { run, dueAt };
      for (const child of this.childrenOf(record.id)) family.push(child);
    }
  }

  #queueOf(hash: string): DueQueue {
    let queue = this.#queues.get(hash);
    if (queue === undefined) {
      queue = new DueQueue(({ run, dueAt }) => this.get(run)?.record.dueAt === dueAt);
      this.#queues.set(hash, queue);
    }
    return queue;
  }
}

type Creation = Pick<RunRecord, 'createdAt' | 'run'>;

function newestFirst(a: Creation, b: Creation): number {
  return b.createdAt - a.createdAt || b.run - a.run;
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

function newRecord(run: number, given: NewRun, resumedFrom: string | null): RunRecord {
  const { id, workflow, revision, definitionHash, key, input, createdAt, dueAt, parent } = given;
  return {
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
    parentId: parent?.id ?? null,
    parentStep: parent?.step ?? null,
    parentOccurrence: parent?.occurrence ?? null,
    resumedFrom,
    resumedBy: null,
  };
}
