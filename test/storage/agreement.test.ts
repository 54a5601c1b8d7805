import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Claim,
  type InboxGuard,
  type InboxView,
  type JournalRow,
  MemoryStorage,
  type NewRun,
  type NewSchedule,
  type RetentionQuery,
  type RunRecord,
  type ScheduleRecord,
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
const time = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 12 }) },
  // After the delays that follow on interruptions.
  { weight: 1, arbitrary: fc.constantFrom(4_010, 13_000, 40_000) },
);
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

const revision = fc.integer({ min: 1, max: 2 });
const scheduleId = fc.constantFrom('nightly', 'hourly');

const schedule: fc.Arbitrary<NewSchedule> = fc.record({
  id: scheduleId,
  cadence: fc.constantFrom('{"everyMs":1}', '{"everyMs":2}'),
  timezone: fc.constantFrom(null, 'Europe/Berlin'),
  input: fc.constantFrom('{}', '[]'),
  overlap: fc.constantFrom('skip' as const, 'queue' as const, 'allow' as const),
  nextAt: fc.option(time),
});

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
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      workflow: fc.constantFrom(0 as const, 1 as const),
      key: fc.option(fc.constantFrom('a', 'b')),
      dueAt: time,
      now: time,
      owner,
      entries: fc.integer({ min: 0, max: 2 }),
      transition: fc.option(transition),
      posts: fc.array(fc.record({ run: runNumber, at: time }), { maxLength: 1 }),
      overdueMs: fc.option(fc.constantFrom(0, 0, 4, 10_000)),
      alone: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      owner,
      hashes: fc.oneof(
        { weight: 3, arbitrary: fc.constant([...hashes]) },
        { weight: 1, arbitrary: fc.subarray([...hashes]) },
      ),
      limit: fc.constantFrom(0, 1, 2, 3, 3),
      now: time,
      leaseMs: fc.integer({ min: 1, max: 4 }),
      only: rarely(runNumber),
      alone: fc.boolean(),
      /** How long a suspect has been due that holds up what is younger. */
      overdueMs: fc.option(fc.constantFrom(0, 0, 4, 10_000)),
      /** At the time when this run is due, if it ever is: so leases expire, and what was put off is taken up. */
      dueWith: fc.option(runNumber, { freq: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('renew' as const),
      owner,
      run: runNumber,
      offset,
      expiresAt: time,
      now: time,
    }),
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
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      workflow: fc.constantFrom('mail', 'post'),
      revision,
      limit: fc.option(fc.integer({ min: 0, max: 2 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('register' as const),
      revision,
      schedules: fc.uniqueArray(schedule, { selector: ({ id }) => id, maxLength: 2 }),
      now: time,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fire' as const), id: scheduleId, offset, nextAt: fc.option(time) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      id: scheduleId,
      paused: fc.boolean(),
      nextAt: fc.constantFrom(undefined, null, 3),
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
      progress: fc.constantFrom(false, false, false, true),
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
  readonly schedules: readonly ScheduleRecord[];
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

function postsOf(posts: readonly { readonly run: number; readonly at: number }[], known: Known) {
  return posts.map(({ run, at }) => ({
    runId: idIn(known, run),
    message: { kind: 'child-ended', name: null, payload: '{}', at },
  }));
}

async function perform(storage: Storage, operation: Operation, id: string, known: Known): Promise<unknown> {
  switch (operation.kind) {
    case 'enqueue':
      return storage.enqueueRun(newRun(operation, id));
    case 'start': {
      const { owner, now, entries, transition, overdueMs, alone } = operation;
      const overdue = overdueMs === null ? {} : { overdueSince: now - overdueMs };
      const claim: Claim = { owner, hashes, limit: 1, now, leaseExpiresAt: now + 4, alone: false, ...overdue };
      const first = {
        entries: entriesFrom(1, entries),
        posts: postsOf(operation.posts, known),
        ...(transition === null ? {} : { transition }),
      };
      return storage.startRun(newRun(operation, id), claim, first, { alone });
    }
    case 'claim': {
      const { owner, hashes, limit, leaseMs, only, alone, overdueMs, dueWith } = operation;
      const now = (dueWith === null ? undefined : known.runs.get(dueWith)?.dueAt) ?? operation.now;
      const claim: Claim = {
        owner,
        hashes,
        limit,
        now,
        leaseExpiresAt: now + leaseMs,
        alone,
        ...(only === null ? {} : { only: idIn(known, only) }),
        ...(overdueMs === null ? {} : { overdueSince: now - overdueMs }),
      };
      return storage.claimRuns(claim);
    }
    case 'renew': {
      const { owner, run, offset, expiresAt, now } = operation;
      const epoch = (known.runs.get(run)?.epoch ?? 1) + offset;
      return storage.renewLeases(owner, [{ run, epoch }], expiresAt, now);
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
      return storage.resumeRun({ from: idIn(known, run), run: next, entries: entriesFrom(1 + seqOffset, entries) });
    }
    case 'limit':
      return storage.setWorkflowLimit(operation.workflow, operation.revision, operation.limit);
    case 'register':
      return storage.registerSchedules('mail', operation.revision, operation.schedules, operation.now);
    case 'fire': {
      const { id: scheduleId, offset, nextAt } = operation;
      const stored = known.schedules.find((schedule) => schedule.id === scheduleId);
      const at = (stored?.nextAt ?? 1) + offset;
      const key = `schedule:${scheduleId}:${at}`;
      const own = newRun({ workflow: 0, key: null, dueAt: at }, id);
      // Mostly by an engine that has the revision of the schedule; one on an older revision fires nothing.
      const revision = offset === 0 ? (stored?.revision ?? own.revision) : own.revision;
      const run = { ...own, revision, key, scheduleId };
      return storage.fireSchedule({ workflow: 'mail', id: scheduleId, at, nextAt, run });
    }
    case 'pause':
      return storage.pauseSchedule('mail', operation.id, operation.paused, operation.nextAt);
    case 'commit': {
      const { run, epochOffset, seqOffset, inboxOffset, transition, progress, alone } = operation;
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
        posts: postsOf(operation.posts, known),
        reopen: operation.reopen.map(({ run, dueAt }) => ({ runId: idIn(known, run), dueAt })),
        progress,
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

async function allRuns(storage: Storage): Promise<RunRecord[]> {
  const pages = await Promise.all([false, true].map((archived) => storage.listRuns({ limit: 1000, archived })));
  return pages.flatMap(({ runs }) => runs);
}

async function everything(storage: Storage) {
  const runs = await allRuns(storage);
  const journals = await Promise.all(runs.map(({ run }) => storage.readJournal(run, 0, Infinity)));
  const inboxes = await Promise.all(runs.map(({ run }) => storage.readInbox(run, 0)));
  const entries = await Promise.all(runs.map(({ run }) => storage.readEntries(run, ['gate'])));
  const children = await Promise.all(runs.map(({ id }) => storage.listChildren(id)));
  const keys = await Promise.all(['a', 'b'].map((key) => storage.getRunByKey('mail', key)));
  const families = await Promise.all(runs.map(({ id }) => storage.nextDueAt(hashes, id)));
  return {
    ...{ runs, journals, inboxes, entries, children, keys, families },
    nextDueAt: await storage.nextDueAt(hashes),
    schedules: await storage.listSchedules(),
    survey: await storage.survey('engine-a', hashes.slice(0, 1), 6),
    archived: await storage.countArchived(),
  };
}

async function knownOf(storage: Storage): Promise<Known> {
  const runs = await allRuns(storage);
  const lastSeq = new Map<number, number>();
  for (const { run } of runs) lastSeq.set(run, (await storage.readJournal(run, 0, Infinity)).length);
  const schedules = await storage.listSchedules();
  return { runs: new Map(runs.map((record) => [record.run, record])), lastSeq, schedules };
}

function claimAt(now: number, only: number | null): Operation {
  const claim = { owner: 'engine-a', limit: 2, leaseMs: 4, alone: false, overdueMs: null, dueWith: null } as const;
  return { kind: 'claim', ...claim, hashes: [...hashes], now, only };
}

/** Every script begins with runs that are driven, so that it does not spend itself on getting there. */
const beginning: readonly Operation[] = [
  { kind: 'enqueue', workflow: 0, key: 'a', dueAt: 0 },
  { kind: 'enqueue', workflow: 1, key: null, dueAt: 0 },
  claimAt(8, null),
];

/** Then the second run may be interrupted twice, so that it is a suspect the next time. */
const interruptions: readonly (readonly Operation[])[] = [12, 16, 4016].map((now) => [claimAt(now, 2)]);

/** Retention takes several turns of the event loop, so that it stands alone. */
const retention = fc.record({
  archive: fc.boolean(),
  query: fc.record({
    endedBefore: fc.constantFrom(4, 8, 40_000),
    limit: fc.integer({ min: 0, max: 4 }),
    statuses: fc.constantFrom(['completed' as const], ['failed' as const, 'completed' as const]),
  }),
});

async function retain(storage: Storage, { archive, query }: { archive: boolean; query: RetentionQuery }) {
  return archive ? storage.archive(query, 7) : storage.cleanup(query);
}

/** And ends with all that can be put away put away. */
const atLast = [true, false].map((archive) => {
  const query: RetentionQuery = { endedBefore: 50_000, limit: 100 };
  return { operations: [claimAt(50_000, null)], then: { archive, query } };
});

const turn = fc.record({
  /** Asked for in one turn of the event loop. */
  operations: fc.array(operation, { minLength: 1, maxLength: 6 }),
  then: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: retention }),
});

const script = fc.array(turn, {
  minLength: 1,
  maxLength: 20,
  size: 'max',
});

test('memory and SQLite agree on every sequence of transitions, also when many are asked for at once', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.boolean(), script, async (isInterrupted, turns) => {
      const memory = new MemoryStorage();
      const together = new SqliteStorage(':memory:');
      const oneByOne = new SqliteStorage(':memory:');
      const storages = [memory, together, oneByOne];
      for (const storage of storages) await storage.open();
      try {
        let firstId = 1;
        const first = [beginning, ...(isInterrupted ? interruptions : [])];
        for (const { operations: turn, then } of [
          ...first.map((operations) => ({ operations, then: undefined })),
          ...turns,
          ...atLast,
        ]) {
          const known = await knownOf(memory);
          const expected = await performAll(memory, turn, firstId, known);
          for (const outcome of expected) seen.add(JSON.stringify(outcome));
          expect(await performAll(together, turn, firstId, known)).toEqual(expected);
          for (const [index, operation] of turn.entries()) {
            const [outcome] = await performAll(oneByOne, [operation], firstId + index, known);
            expect(outcome).toEqual(expected[index]);
          }
          firstId += turn.length;
          if (then !== undefined) {
            const count = await retain(memory, then);
            if (count > 0) seen.add(`${then.archive ? 'archived' : 'removed'} ${count}`);
            for (const storage of [together, oneByOne]) expect(await retain(storage, then)).toBe(count);
          }
          const state = await everything(memory);
          for (const run of state.runs) seen.add(JSON.stringify(run));
          expect(await everything(together)).toEqual(state);
          expect(await everything(oneByOne)).toEqual(state);
        }
      } finally {
        for (const storage of storages) await storage.close();
      }
    }),
    { seed: 21, numRuns: 70 },
  );
  // The scripts reached what matters, or their agreement says nothing.
  for (const outcome of [
    '"committed"',
    '"lease-lost"',
    '"inbox-changed"',
    '"RS_STORAGE_FAILED"',
    '"wf_',
    '"created":false',
    '"created":true,"claimed":{',
    '"posted"',
    '"refused"',
    '"ended"',
    '"unknown"',
    '"resumedFrom":"wf_',
    '"parentOccurrence":"1"',
    '"kind":"fired"',
    '"kind":"skipped"',
    '"kind":"lost"',
    '"interruptions":2',
    '"interruptions":3',
    '"scheduleId":"nightly"',
    '"archivedAt":7',
    'archived 2',
    'removed 2',
    '"status":"compensating","rollbackStatus":"owed","input":"{}","output":"{\\"done\\":true}"',
  ]) {
    expect(
      [...seen].some((text) => text.includes(outcome)),
      outcome,
    ).toBe(true);
  }
});
