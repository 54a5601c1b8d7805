import assert from 'node:assert/strict';
import {
  type StorageCase,
  aClaim,
  aLeasedRun,
  aRun,
  anEnd,
  anEntry,
  claim,
  idsOf,
  leaseMs,
  mustGet,
  now,
  unitOf,
} from './case.js';
import { aSuspect } from './interrupted.js';

export const startCases: readonly StorageCase[] = [
  {
    name: 'a start inserts, leases and begins a run in one',
    async run(make) {
      const storage = await make();
      const first = { entries: [anEntry(1), anEntry(2)], children: [] };
      for (const alone of [false, true]) {
        const { run, created, claimed } = await storage.startRun(aRun(), aClaim(), first, { alone });
        assert.equal(created, true);
        assert.equal(run.status, 'pending');
        const leased = { status: 'running', owner: 'engine-a', epoch: 1, startedAt: now } as const;
        assert.deepEqual(claimed, { ...run, ...leased, dueAt: now + leaseMs, leaseExpiresAt: now + leaseMs });
        assert.deepEqual(await storage.getRun(run.id), claimed);
        assert.deepEqual(await storage.readJournal(run.run, 0, 10), first.entries);
        const again = await storage.commitUnits([unitOf(claimed ?? run, { entries: [anEntry(3)] })]);
        assert.deepEqual(again, ['committed']);
      }
    },
  },
  {
    name: 'a start whose id is taken is not begun, since its entries were made for that id',
    async run(make) {
      const storage = await make();
      const { id } = (await storage.enqueueRun(aRun({ dueAt: now + 1 }))).run;
      const run = aRun({ id, nextId: (attempt) => `${id}-${attempt}` });
      const started = await storage.startRun(run, aClaim(), { entries: [anEntry(1)] });
      assert.deepEqual([started.run.id, started.created, started.claimed], [`${id}-1`, true, undefined]);
      assert.deepEqual(await storage.readJournal(started.run.run, 0, 10), []);
      assert.deepEqual(idsOf(await claim(storage)), [`${id}-1`]);
    },
  },
  {
    name: 'a start with a transition, a child and a message makes all of them, or none',
    async run(make) {
      const storage = await make();
      const { run: other } = await storage.enqueueRun(aRun({ definitionHash: 'hash-other' }));
      const message = { kind: 'signal', name: 'go', payload: null, at: now };
      const child = aRun({ dueAt: now + 1 });
      const posts = [{ runId: other.id, message }];
      const ended = { entries: [anEntry(1)], transition: anEnd(), children: [child], posts };
      const { run } = await storage.startRun(aRun(), aClaim(), ended);
      const { status, owner } = await mustGet(storage, run);
      assert.deepEqual({ status, owner }, { status: 'completed', owner: null });
      assert.equal((await mustGet(storage, child)).status, 'pending');
      assert.equal((await storage.readInbox(other.run, 0)).length, 1);
      const impossible = aRun();
      const start = storage.startRun(impossible, aClaim(), { entries: [anEntry(1)], children: [child], posts });
      await assert.rejects(start, { code: 'RS_STORAGE_FAILED' });
      assert.equal(await storage.getRun(impossible.id), undefined);
      assert.equal((await storage.readInbox(other.run, 0)).length, 1);
    },
  },
  {
    name: 'a start whose key is taken answers who has it, and writes nothing',
    async run(make) {
      const storage = await make();
      const holder = await storage.enqueueRun(aRun({ key: 'order-1' }));
      const started = await storage.startRun(aRun({ key: 'order-1' }), aClaim(), { entries: [anEntry(1)] });
      assert.deepEqual(started, { run: holder.run, created: false, claimed: undefined });
      assert.deepEqual(await storage.readJournal(holder.run.run, 0, 10), []);
    },
  },
  {
    name: 'at a start what is older and due comes first; past the limit of its workflow the new run waits',
    async run(make) {
      const storage = await make();
      const { run: older } = await storage.enqueueRun(aRun());
      const first = { entries: [anEntry(1)] };
      const behind = await storage.startRun(aRun(), aClaim(), first);
      assert.equal(behind.claimed?.id, older.id);
      assert.deepEqual(await mustGet(storage, behind.run), behind.run);
      assert.deepEqual(await storage.readJournal(behind.run.run, 0, 10), []);
      assert.deepEqual(idsOf(await claim(storage)), [behind.run.id]);
      await storage.setWorkflowLimit('mail', 1, 2);
      const { run, claimed } = await storage.startRun(aRun(), aClaim(), first);
      assert.equal(claimed, undefined);
      assert.deepEqual(await mustGet(storage, run), run);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), []);
    },
  },
  {
    name: 'at a start that is not due yet, or for whose place there is a run already, nothing is begun',
    async run(make) {
      const storage = await make();
      const first = { entries: [anEntry(1)] };
      const later = await storage.startRun(aRun({ dueAt: now + 1 }), aClaim(), first);
      assert.deepEqual([later.created, later.claimed, later.run.dueAt], [true, undefined, now + 1]);
      assert.deepEqual(await storage.readJournal(later.run.run, 0, 10), []);
      const parent = { id: later.run.id, step: 'ship', occurrence: '0' };
      const { run: child } = await storage.enqueueRun(aRun({ parent, dueAt: now + 1 }));
      const again = await storage.startRun(aRun({ parent }), aClaim(), first);
      assert.deepEqual(again, { run: child, created: false, claimed: undefined });
    },
  },
  {
    name: 'at a start a suspect that is long overdue is waited for',
    async run(make) {
      const storage = await make();
      const { dueAt } = await aSuspect(storage);
      const at = (dueAt ?? 0) + 10;
      const first = { entries: [anEntry(1)] };
      const before = await storage.startRun(aRun({ dueAt: at }), aClaim({ at, overdueSince: at - 11 }), first);
      assert.equal(before.claimed?.id, before.run.id);
      const after = await storage.startRun(aRun({ dueAt: at }), aClaim({ at, overdueSince: at - 10 }), first);
      assert.deepEqual([after.created, after.claimed], [true, undefined]);
      assert.deepEqual(await storage.readJournal(after.run.run, 0, 10), []);
    },
  },
  {
    name: 'starts stand by themselves beside what is refused, and what fails, in the same turn',
    async run(make) {
      const storage = await make();
      const other = await aLeasedRun(storage);
      const first = { entries: [anEntry(1)] };
      const [one, refused, failing, clash, two] = await Promise.allSettled([
        storage.startRun(aRun(), aClaim(), first),
        storage.commitUnits([unitOf({ ...other, epoch: 2 }, { entries: [anEntry(1)] })]),
        storage.commitUnits([unitOf(other, { entries: [anEntry(2)] })]),
        storage.startRun(aRun({ id: other.id }), aClaim(), first),
        storage.startRun(aRun(), aClaim({ owner: 'engine-b' }), first),
      ]);
      assert.deepEqual(refused, { status: 'fulfilled', value: ['lease-lost'] });
      for (const { status } of [failing, clash]) assert.equal(status, 'rejected');
      for (const [outcome, owner] of [
        [one, 'engine-a'],
        [two, 'engine-b'],
      ] as const) {
        assert.ok(outcome.status === 'fulfilled');
        const { run, claimed } = outcome.value;
        assert.equal(claimed?.owner, owner);
        assert.deepEqual(await mustGet(storage, run), claimed);
        assert.deepEqual(await storage.readJournal(run.run, 0, 10), first.entries);
      }
      assert.deepEqual(await storage.readJournal(other.run, 0, 10), []);
    },
  },
];
