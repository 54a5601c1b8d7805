import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Claim,
  MemoryStorage,
  type NewRun,
  type RunRecord,
  SqliteStorage,
  type Storage,
  type Transition,
} from '../../src/storage/index.js';
import { anEntry } from '../../src/testing/storage-cases/case.js';

/**
 * Any sequence of transitions has the same results and leaves the same state in every storage; and
 * those that are asked for at once have the same results as one after the other.
 */

const hashes = ['hash-mail', 'hash-post'] as const;
const owners = ['engine-a', 'engine-b'] as const;

/** Times and keys are drawn from few, so that they often meet. */
const time = fc.integer({ min: 0, max: 12 });
const owner = fc.constantFrom(...owners);
const runNumber = fc.integer({ min: 1, max: 3 });
/** Mostly right, sometimes off. */
const offset = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) });

const transition: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({
    kind: fc.constant('park' as const),
    status: fc.constantFrom('sleeping' as const, 'waiting' as const, 'compensating' as const),
    dueAt: fc.option(time),
  }),
  fc.record({
    kind: fc.constant('end' as const),
    status: fc.constantFrom('completed' as const, 'failed' as const),
    output: fc.option(fc.constant('{"done":true}')),
    error: fc.constant(null),
    rollbackStatus: fc.constant(null),
    endedAt: time,
  }),
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom('running' as const, 'compensating' as const),
    rollbackStatus: fc.constantFrom('owed' as const, 'completed' as const),
  }),
);

const operation = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('enqueue' as const),
      workflow: fc.constantFrom(0 as const, 1 as const),
      key: fc.option(fc.constantFrom('a', 'b')),
      dueAt: time,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      owner,
      hashes: fc.subarray([...hashes]),
      limit: fc.integer({ min: 0, max: 3 }),
      now: time,
      leaseMs: fc.integer({ min: 1, max: 4 }),
      only: fc.option(runNumber, { freq: 4 }),
      mailLimit: fc.option(fc.integer({ min: 0, max: 2 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('renew' as const), owner, run: runNumber, offset, expiresAt: time }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('release' as const), owner, run: runNumber, offset, now: time }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('post' as const), run: runNumber, at: time }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      run: runNumber,
      owner: fc.option(owner, { freq: 3 }),
      epochOffset: offset,
      seqOffset: offset,
      entries: fc.integer({ min: 0, max: 3 }),
      inboxOffset: fc.option(offset),
      transition: fc.option(transition),
      alone: fc.boolean(),
    }),
  },
);

type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** What is known of the runs before the operations of one turn. */
interface Known {
  readonly runs: ReadonlyMap<number, RunRecord>;
  readonly lastSeq: ReadonlyMap<number, number>;
}

function idOf(run: number): string {
  return `wf_${run}`;
}

function newRun({ workflow, key, dueAt }: Operation & { kind: 'enqueue' }, id: string): NewRun {
  return {
    id,
    workflow: workflow === 0 ? 'mail' : 'post',
    revision: 1,
    definitionHash: hashes[workflow],
    key,
    input: '{}',
    createdAt: dueAt,
    dueAt,
  };
}

async function perform(storage: Storage, operation: Operation, id: string, known: Known): Promise<unknown> {
  switch (operation.kind) {
    case 'enqueue':
      return storage.enqueueRun(newRun(operation, id));
    case 'claim': {
      const { owner, hashes, limit, now, leaseMs, only, mailLimit } = operation;
      const claim: Claim = {
        owner,
        hashes,
        limit,
        now,
        leaseExpiresAt: now + leaseMs,
        ...(only === null ? {} : { only: idOf(only) }),
        ...(mailLimit === null ? {} : { limits: new Map([['mail', mailLimit]]) }),
      };
      return storage.claimRuns(claim);
    }
    case 'renew': {
      const { owner, run, offset, expiresAt } = operation;
      const epoch = (known.runs.get(run)?.epoch ?? 1) + offset;
      return storage.renewLeases(owner, [{ run, epoch }], expiresAt);
    }
    case 'release': {
      const { owner, run, offset, now } = operation;
      const epoch = (known.runs.get(run)?.epoch ?? 1) + offset;
      return storage.releaseRuns(owner, [{ run, epoch }], now);
    }
    case 'post':
      return storage.postInbox(idOf(operation.run), { kind: 'signal', name: 'go', payload: null, at: operation.at });
    case 'commit': {
      const { run, epochOffset, seqOffset, inboxOffset, transition, alone } = operation;
      const record = known.runs.get(run);
      const firstSeq = (known.lastSeq.get(run) ?? 0) + 1 + seqOffset;
      const unit = {
        run,
        epoch: (record?.epoch ?? 1) + epochOffset,
        owner: operation.owner ?? record?.owner ?? 'engine-a',
        entries: Array.from({ length: operation.entries }, (_, index) => anEntry(firstSeq + index)),
        ...(inboxOffset === null ? {} : { inboxSeq: (record?.inboxSeq ?? 0) + inboxOffset }),
        ...(transition === null ? {} : { transition }),
      };
      return storage.commitUnits([unit], { alone });
    }
  }
}

/** Results, and errors by their code. */
async function performAll(storage: Storage, operations: readonly Operation[], firstId: number, known: Known) {
  const outcomes = await Promise.allSettled(
    operations.map((operation, index) => perform(storage, operation, idOf(firstId + index), known)),
  );
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? { result: outcome.value } : { error: (outcome.reason as { code?: string }).code },
  );
}

async function everything(storage: Storage) {
  const { runs } = await storage.listRuns({ limit: 1000 });
  const journals = await Promise.all(runs.map(({ run }) => storage.readJournal(run, 0, Infinity)));
  const inboxes = await Promise.all(runs.map(({ run }) => storage.readInbox(run, 0)));
  return { runs, journals, inboxes, nextDueAt: await storage.nextDueAt(hashes) };
}

async function knownOf(storage: Storage): Promise<Known> {
  const { runs } = await storage.listRuns({ limit: 1000 });
  const lastSeq = new Map<number, number>();
  for (const { run } of runs) lastSeq.set(run, (await storage.readJournal(run, 0, Infinity)).length);
  return { runs: new Map(runs.map((record) => [record.run, record])), lastSeq };
}

/** Operations of one turn of the event loop, turn after turn. */
const script = fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 });

test('memory and SQLite agree on every sequence of transitions, also when many are asked for at once', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(script, async (turns) => {
      const memory = new MemoryStorage();
      const together = new SqliteStorage(':memory:');
      const oneByOne = new SqliteStorage(':memory:');
      const storages = [memory, together, oneByOne];
      for (const storage of storages) await storage.open();
      try {
        let firstId = 1;
        for (const turn of turns) {
          const known = await knownOf(memory);
          const expected = await performAll(memory, turn, firstId, known);
          for (const outcome of expected) seen.add(JSON.stringify(outcome));
          expect(await performAll(together, turn, firstId, known)).toEqual(expected);
          for (const [index, operation] of turn.entries()) {
            const [outcome] = await performAll(oneByOne, [operation], firstId + index, known);
            expect(outcome).toEqual(expected[index]);
          }
          firstId += turn.length;
          const state = await everything(memory);
          expect(await everything(together)).toEqual(state);
          expect(await everything(oneByOne)).toEqual(state);
        }
      } finally {
        for (const storage of storages) await storage.close();
      }
    }),
    { seed: 20, numRuns: 60 },
  );
  // The scripts reached what matters, or their agreement says nothing.
  for (const outcome of [
    '"committed"',
    '"lease-lost"',
    '"inbox-changed"',
    '"RS_STORAGE_FAILED"',
    '"wf_',
    '"created":false',
  ]) {
    expect(
      [...seen].some((text) => text.includes(outcome)),
      outcome,
    ).toBe(true);
  }
});
