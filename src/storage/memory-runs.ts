import { RunsheetError } from '../common/index.js';
import type { InboxMessage, JournalRow, NewRun, ParentPlace, RunRecord } from './contract.js';
import { type Due, DueQueue } from './due-queue.js';
import { isTerminal } from './run-rules.js';

/** A run with all that belongs to it. `record` is replaced, never changed, so that it can be handed out. */
export interface StoredRun {
  record: RunRecord;
  readonly journal: JournalRow[];
  readonly inbox: InboxMessage[];
}

/** The runs of a `MemoryStorage` and what finds them. They change through `insert` and `update` alone. */
export class MemoryRuns {
  /** In order of insertion. */
  readonly #all: StoredRun[] = [];
  /** By everything that must be unique: id, key in a workflow, place in a parent. */
  readonly #byName = new Map<string, StoredRun>();
  readonly #children = new Map<string, StoredRun[]>();
  /** By definition; what claims look at. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #leased = new Set<StoredRun>();
  readonly #unfinished = new Set<StoredRun>();

  get all(): readonly StoredRun[] {
    return this.#all;
  }

  get leased(): ReadonlySet<StoredRun> {
    return this.#leased;
  }

  get unfinished(): ReadonlySet<StoredRun> {
    return this.#unfinished;
  }

  at(run: number): StoredRun | undefined {
    return this.#all[run - 1];
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

  firstDue(hash: string): Due | undefined {
    return this.#queues.get(hash)?.first();
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
    const record = newRecord(this.#all.length + 1, run, resumedFrom);
    const stored: StoredRun = { record, journal: [], inbox: [] };
    this.#all.push(stored);
    for (const name of namesOf(run)) this.#byName.set(name, stored);
    if (run.parent !== undefined) {
      const siblings = this.#children.get(run.parent.id);
      if (siblings === undefined) this.#children.set(run.parent.id, [stored]);
      else siblings.push(stored);
    }
    this.#unfinished.add(stored);
    this.#queueOf(run.definitionHash).put({ dueAt: run.dueAt, run: record.run });
    return stored;
  }

  update(stored: StoredRun, changes: Partial<Omit<RunRecord, 'run' | 'key'>>): RunRecord {
    const record: RunRecord = { ...stored.record, ...changes };
    stored.record = record;
    if (changes.dueAt !== undefined && record.dueAt !== null)
      this.#queueOf(record.definitionHash).put({ dueAt: record.dueAt, run: record.run });
    if (record.owner === null) this.#leased.delete(stored);
    else this.#leased.add(stored);
    if (isTerminal(record.status)) this.#unfinished.delete(stored);
    else this.#unfinished.add(stored);
    return record;
  }

  /** A new run in the place of an old one, whose key passes to it. Throws if the new run's id or place is taken. */
  insertInsteadOf(old: StoredRun, run: NewRun): StoredRun {
    const { id, workflow, key } = old.record;
    assertFree({ ...run, key: null }, (name) => this.#byName.has(name));
    if (key !== null) this.#byName.delete(keyName(workflow, key));
    old.record = { ...old.record, key: null, resumedBy: run.id };
    return this.insert({ ...run, key }, id);
  }

  #queueOf(hash: string): DueQueue {
    let queue = this.#queues.get(hash);
    if (queue === undefined) {
      queue = new DueQueue(({ run, dueAt }) => this.at(run)?.record.dueAt === dueAt);
      this.#queues.set(hash, queue);
    }
    return queue;
  }
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
