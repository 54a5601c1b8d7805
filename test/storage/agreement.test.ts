import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Claim,
  type InboxGuard,
  type InboxView,
  type JournalRow,
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

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

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
      only: rarely(runNumber),
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
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('post' as const),
      run: runNumber,
      at: time,
      mostMessages: fc.option(fc.integer({ min: 0, max: 2 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('resume' as const),
      run: runNumber,
      dueAt: time,
      entries: fc.integer({ min: 0, max: 2 }),
      seqOffset: offset,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      run: runNumber,
      owner: rarely(owner),
      epochOffset: offset,
      seqOffset: offset,
      entries: fc.integer({ min: 0, max: 3 }),
      inboxOffset: fc.option(offset),
      transition: fc.option(transition),
      /** Occurrences; few, so that places are often taken. */
      children: fc.oneof(fc.constant<string[]>([]), fc.array(fc.constantFrom<string[]>('0', '1'), { maxLength: 2 })),
      childKey: rarely(fc.constantFrom('a', 'b')),
      posts: fc.array(fc.record({ run: runNumber, at: time }), { maxLength: 2 }),
      reopen: fc.array(fc.record({ run: runNumber, dueAt: time }), { maxLength: 2 }),
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

/** Operations know a run by its number alone. */
function idIn({ runs }: Known, run: number): string {
  return runs.get(run)?.id ?? 'wf_none';
}

/** Every third belongs to another item, every fourth to none. */
function entriesFrom(firstSeq: number, count: number): JournalRow[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = firstSeq + index;
    return anEntry(seq, { step: seq % 3 === 0 ? 'gate' : seq % 4 === 0 ? null : 'charge' });
  });
}

function newRun(
  { workflow, key, dueAt }: Pick<Operation & { kind: 'enqueue' }, 'workflow' | 'key' | 'dueAt'>,
  id: string,
): NewRun {
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
        ...(only === null ? {} : { only: idIn(known, only) }),
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
    case 'post': {
      const { run, at, mostMessages } = operation;
      const guard: InboxGuard<InboxView> = {
        steps: ['charge'],
        refuse: (view) => (view.messages.length > (mostMessages ?? Infinity) ? view : undefined),
      };
      const post = { kind: 'signal', name: 'go', payload: null, now: () => at };
      return storage.postInbox(idIn(known, run), mostMessages === null ? post : { ...post, guard });
    }
    case 'resume': {
      const { run, dueAt, entries, seqOffset } = operation;
      const next = newRun({ workflow: 0, key: null, dueAt }, id);
      return storage.resumeRun(idIn(known, run), next, entriesFrom(1 + seqOffset, entries));
    }
    case 'commit': {
      const { run, epochOffset, seqOffset, inboxOffset, transition, alone } = operation;
      const record = known.runs.get(run);
      const firstSeq = (known.lastSeq.get(run) ?? 0) + 1 + seqOffset;
      const unit = {
        run,
        epoch: (record?.epoch ?? 1) + epochOffset,
        owner: operation.owner ?? record?.owner ?? 'engine-a',
        entries: entriesFrom(firstSeq, operation.entries),
        children: operation.children.map((occurrence, index) => ({
          ...newRun({ workflow: 1, key: operation.childKey, dueAt: 5 }, `${id}_${index}`),
          parent: { id: idIn(known, run), step: 'ship', occurrence },
        })),
        posts: operation.posts.map(({ run, at }) => ({
          runId: idIn(known, run),
          message: { kind: 'child-ended', name: null, payload: '{}', at },
        })),
        reopen: operation.reopen.map(({ run, dueAt }) => ({ runId: idIn(known, run), dueAt })),
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
    operations.map((operation, index) => perform(storage, operation, `wf_${firstId + index}`, known)),
  );
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? { result: outcome.value } : { error: (outcome.reason as { code?: string }).code },
  );
}

async function everything(storage: Storage) {
  const { runs } = await storage.listRuns({ limit: 1000 });
  const journals = await Promise.all(runs.map(({ run }) => storage.readJournal(run, 0, Infinity)));
  const inboxes = await Promise.all(runs.map(({ run }) => storage.readInbox(run, 0)));
  const entries = await Promise.all(runs.map(({ run }) => storage.readEntries(run, ['gate'])));
  const children = await Promise.all(runs.map(({ id }) => storage.listChildren(id)));
  const keys = await Promise.all(['a', 'b'].map((key) => storage.getRunByKey('mail', key)));
  const families = await Promise.all(runs.map(({ id }) => storage.nextDueAt(hashes, id)));
  return { runs, journals, inboxes, entries, children, keys, families, nextDueAt: await storage.nextDueAt(hashes) };
}

async function knownOf(storage: Storage): Promise<Known> {
  const { runs } = await storage.listRuns({ limit: 1000 });
  const lastSeq = new Map<number, number>();
  for (const { run } of runs) lastSeq.set(run, (await storage.readJournal(run, 0, Infinity)).length);
  return { runs: new Map(runs.map((record) => [record.run, record])), lastSeq };
}

/** Every script begins with runs that are driven, so that it does not spend itself on getting there. */
const beginning: readonly Operation[] = [
  { kind: 'enqueue', workflow: 0, key: 'a', dueAt: 0 },
  { kind: 'enqueue', workflow: 1, key: null, dueAt: 0 },
  { kind: 'claim', owner: 'engine-a', hashes: [...hashes], limit: 2, now: 8, leaseMs: 4, only: null, mailLimit: null },
];

/** Operations of one turn of the event loop, turn after turn. */
const script = fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 20,
  size: 'max',
});

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
        for (const turn of [beginning, ...turns]) {
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
          for (const run of state.runs) seen.add(JSON.stringify(run));
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
    '"posted"',
    '"refused"',
    '"ended"',
    '"unknown"',
    '"resumedFrom":"wf_',
    '"parentOccurrence":"1"',
    '"status":"compensating","rollbackStatus":"owed","input":"{}","output":"{\\"done\\":true}"',
  ]) {
    expect(
      [...seen].some((text) => text.includes(outcome)),
      outcome,
    ).toBe(true);
  }
});
