import assert from 'node:assert/strict';
import type {
  Claim,
  InboxPost,
  JournalRow,
  Lease,
  NewInboxMessage,
  NewRun,
  RunRecord,
  Storage,
  StorageCapabilities,
  Transition,
  Unit,
} from '../../storage/index.js';

/** One thing that every storage must do; fails by throwing an `AssertionError`. */
export interface StorageCase {
  readonly name: string;
  /** The case says nothing about storages without this capability: leave it out for them. */
  readonly needs?: keyof StorageCapabilities;
  /**
   * `make` opens a storage. The first call gives an empty one; every further call (only in cases
   * that need `shared` or `provesDeath`) another object over the same data. To be closed by whoever made `make`.
   */
  run(make: () => Promise<Storage>): Promise<void>;
}

export const now = 1_700_000_000_000;
export const leaseMs = 30_000;

let ids = 0;

/** A run that is due; `id` is unique in the process. */
export function aRun(overrides: Partial<NewRun> = {}): NewRun {
  ids += 1;
  return {
    id: `wf_${ids.toString(16).padStart(32, '0')}`,
    workflow: 'mail',
    revision: 1,
    definitionHash: 'hash-mail-1',
    key: null,
    input: '{}',
    createdAt: now,
    dueAt: now,
    ...overrides,
  };
}

export function anEntry(seq: number, overrides: Partial<JournalRow> = {}): JournalRow {
  return {
    seq,
    kind: 'step-completed',
    step: 'charge',
    occurrence: '0',
    aspect: null,
    at: now,
    payload: `{"seq":${seq}}`,
    ...overrides,
  };
}

export function unitOf(lease: Lease & { owner: string | null }, overrides: Partial<Unit> = {}): Unit {
  return { run: lease.run, epoch: lease.epoch, owner: lease.owner ?? '', entries: [], ...overrides };
}

export function aPost({ at, ...message }: NewInboxMessage): InboxPost<never> {
  return { ...message, now: () => at };
}

export function anEnd(overrides: Partial<Transition & { kind: 'end' }> = {}): Transition {
  return {
    kind: 'end',
    status: 'completed',
    output: null,
    error: null,
    rollbackStatus: null,
    endedAt: now,
    ...overrides,
  };
}

/** Ends a leased run; returns what it is then. */
export async function end(
  storage: Storage,
  run: RunRecord,
  overrides: Partial<Transition & { kind: 'end' }> = {},
): Promise<RunRecord> {
  assert.deepEqual(await storage.commitUnits([unitOf(run, { transition: anEnd(overrides) })]), ['committed']);
  return mustGet(storage, run);
}

interface ClaimChoices {
  readonly owner?: string;
  readonly hashes?: readonly string[];
  readonly at?: number;
  readonly limit?: number;
  readonly alone?: boolean;
  readonly only?: string;
  readonly overdueSince?: number;
}

export function aClaim({ at = now, ...choices }: ClaimChoices = {}): Claim {
  const usual = { owner: 'engine-a', hashes: ['hash-mail-1'], limit: 10, alone: false };
  return { ...usual, now: at, leaseExpiresAt: at + leaseMs, ...choices };
}

export async function claim(storage: Storage, choices?: ClaimChoices): Promise<RunRecord[]> {
  return storage.claimRuns(aClaim(choices));
}

/** A run that `owner` drives. */
export async function aLeasedRun(storage: Storage, overrides: Partial<NewRun> = {}, owner = 'engine-a') {
  const run = aRun(overrides);
  await storage.enqueueRun(run);
  const [claimed] = await claim(storage, { owner, only: run.id, hashes: [run.definitionHash], at: run.dueAt });
  assert.ok(claimed, 'a run that is due can be claimed');
  return claimed;
}

export async function mustGet(storage: Storage, { id }: { id: string }): Promise<RunRecord> {
  const record = await storage.getRun(id);
  assert.ok(record, `run ${id} is there`);
  return record;
}

export function idsOf(records: readonly { id: string }[]): string[] {
  return records.map(({ id }) => id);
}
