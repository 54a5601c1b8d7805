import { RunsheetError } from '../../common/index.js';
import type { Claim, InboxMessage, JournalRow, Lease, NewRun, RunQuery, RunRecord } from '../contract.js';
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

/** All runs, and the ways to find them. */
export class RunTable {
  /** Run n is at index n − 1. */
  readonly #runs: { record: RunRecord; journal: JournalRow[]; inbox: InboxMessage[] }[] = [];
  readonly #byId = new Map<string, StoredRun>();
  readonly #byKey = new Map<string, StoredRun>();
  /** By definition. */
  readonly #queues = new Map<string, DueQueue>();
  readonly #leased = new Set<StoredRun>();
  readonly #unfinished = new Set<StoredRun>();

  get(run: number): StoredRun | undefined {
    return this.#runs[run - 1];
  }

  byId(id: string): StoredRun | undefined {
    return this.#byId.get(id);
  }

  byKey(workflow: string, key: string): StoredRun | undefined {
    return this.#byKey.get(keyOf(workflow, key));
  }

  heldBy(owner: string, { run, epoch }: Lease): StoredRun | undefined {
    const stored = this.get(run);
    return stored?.record.owner === owner && stored.record.epoch === epoch ? stored : undefined;
  }

  insert(run: NewRun): StoredRun {
    if (this.#byId.has(run.id)) {
      throw new RunsheetError('RS_STORAGE_FAILED', `Run ${run.id} exists already; a new run needs an id of its own.`);
    }
    const stored = { record: newRecord(this.#runs.length + 1, run), journal: [], inbox: [] };
    this.#runs.push(stored);
    this.#byId.set(run.id, stored);
    if (run.key !== null) this.#byKey.set(keyOf(run.workflow, run.key), stored);
    this.#unfinished.add(stored);
    this.#queueOf(run.definitionHash).put({ dueAt: run.dueAt, run: stored.record.run });
    return stored;
  }

  /** The only place where a run changes, so that what is kept about it stays true. */
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
    return record;
  }

  unfinishedHashes(workflow: string, revision: number): Set<string> {
    const hashes = new Set<string>();
    for (const { record } of this.#unfinished) {
      if (record.workflow === workflow && record.revision === revision) hashes.add(record.definitionHash);
    }
    return hashes;
  }

  earliestDue(hash: string): number | undefined {
    return this.#queues.get(hash)?.first()?.dueAt;
  }

  oldestDue(hashes: ReadonlySet<string>, { now, only }: Claim): StoredRun | undefined {
    if (only !== undefined) {
      const stored = this.#byId.get(only);
      const isDue = stored !== undefined && stored.record.dueAt !== null && stored.record.dueAt <= now;
      return isDue && hashes.has(stored.record.definitionHash) ? stored : undefined;
    }
    let oldest: Due | undefined;
    for (const hash of hashes) {
      const first = this.#queues.get(hash)?.first();
      if (first === undefined || first.dueAt > now) continue;
      if (oldest === undefined || isBefore(first, oldest)) oldest = first;
    }
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

function keyOf(workflow: string, key: string): string {
  return JSON.stringify([workflow, key]);
}

function newRecord(
  run: number,
  { id, workflow, revision, definitionHash, key, input, createdAt, dueAt }: NewRun,
): RunRecord {
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
  };
}
