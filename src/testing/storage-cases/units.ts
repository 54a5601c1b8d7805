import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, anEntry, claim, mustGet, now, unitOf } from './case.js';

export const unitCases: readonly StorageCase[] = [
  {
    name: 'entries are read back as they were written, in order, after a seq, up to a limit',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const other = await aLeasedRun(storage);
      const entries = [
        anEntry(1, { kind: 'run-started', step: null, occurrence: null, payload: null }),
        anEntry(2, { kind: 'decision', aspect: 'when', payload: '"\\u0000 👩‍🚀"', occurrence: '3.1', at: now + 1.5 }),
        anEntry(3),
      ];
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries })]), ['committed']);
      assert.deepEqual(await storage.commitUnits([unitOf(other, { entries: [anEntry(1)] })]), ['committed']);
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries: [anEntry(4)] })]), ['committed']);
      assert.deepEqual(await storage.readJournal(run.run, 0, 100), [...entries, anEntry(4)]);
      assert.deepEqual(await storage.readJournal(run.run, 1, 2), entries.slice(1));
      assert.deepEqual(await storage.readJournal(run.run, 4, 100), []);
      assert.deepEqual(await storage.readJournal(run.run, 0, 0), []);
      assert.deepEqual(await storage.readJournal(99_999, 0, 100), []);
    },
  },
  {
    name: 'entries are read by the items they belong to, in order, of one run alone',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const other = await aLeasedRun(storage);
      const entries = Array.from({ length: 1700 }, (_, index) =>
        anEntry(index + 1, { step: ['charge', `ship's "label"`, null, 'gate'][index % 4] ?? null }),
      );
      await storage.commitUnits([unitOf(run, { entries }), unitOf(other, { entries: [anEntry(1, { step: 'gate' })] })]);
      const of = (...steps: string[]) => entries.filter(({ step }) => step !== null && steps.includes(step));
      assert.deepEqual(await storage.readEntries(run.run, ['gate']), of('gate'));
      const some = ['gate', 'unknown', `ship's "label"`, 'charge', 'gate'];
      assert.deepEqual(await storage.readEntries(run.run, some), of(...some));
      assert.deepEqual(await storage.readEntries(run.run, []), []);
      assert.deepEqual(await storage.readEntries(99_999, ['gate']), []);
    },
  },
  {
    name: 'a long journal is read whole',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const entries = Array.from({ length: 1700 }, (_, index) => anEntry(index + 1));
      await storage.commitUnits([unitOf(run, { entries })]);
      assert.deepEqual(await storage.readJournal(run.run, 3, Infinity), entries.slice(3));
      assert.deepEqual(await storage.readJournal(run.run, 3, 1000), entries.slice(3, 1003));
    },
  },
  {
    name: 'units asked for one after the other without waiting are committed in that order',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const commits = Array.from({ length: 600 }, (_, index) =>
        storage.commitUnits([unitOf(run, { entries: [anEntry(index + 1)] })]),
      );
      assert.ok((await Promise.all(commits)).flat().every((result) => result === 'committed'));
      assert.equal((await storage.readJournal(run.run, 0, 1000)).length, 600);
    },
  },
  {
    name: '`alone` gives the same result',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const others = await aLeasedRun(storage);
      const results = await storage.commitUnits(
        [unitOf(run, { entries: [anEntry(1)] }), unitOf({ ...others, epoch: 7 }, { entries: [anEntry(1)] })],
        { alone: true },
      );
      assert.deepEqual(results, ['committed', 'lease-lost']);
      for (let seq = 2; seq < 50; seq += 1) {
        await storage.commitUnits([unitOf(run, { entries: [anEntry(seq)] })], { alone: true });
      }
      assert.equal((await storage.readJournal(run.run, 0, 100)).length, 49);
    },
  },
  {
    name: 'a unit of another owner or epoch, or of no run at all, is refused whole; its neighbours are not',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const neighbour = await aLeasedRun(storage);
      const end = {
        kind: 'end',
        status: 'completed',
        output: null,
        error: null,
        rollbackStatus: null,
        endedAt: now,
      } as const;
      assert.deepEqual(
        await storage.commitUnits([
          unitOf({ ...run, owner: 'engine-b' }, { entries: [anEntry(1)], transition: end }),
          unitOf(neighbour, { entries: [anEntry(1)] }),
          unitOf({ ...run, epoch: run.epoch + 1 }, { entries: [anEntry(1)], transition: end }),
          unitOf({ run: 99_999, epoch: 1, owner: 'engine-a' }, { entries: [anEntry(1)] }),
        ]),
        ['lease-lost', 'committed', 'lease-lost', 'lease-lost'],
      );
      assert.deepEqual(await mustGet(storage, run), run);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), []);
      assert.deepEqual(await storage.readJournal(99_999, 0, 10), []);
      assert.equal((await storage.readJournal(neighbour.run, 0, 10)).length, 1);
    },
  },
  {
    name: 'entries that do not follow the last one are an error, without harm to others asked for at the same time',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const neighbour = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(run, { entries: [anEntry(1)] })]);
      const failed = { code: 'RS_STORAGE_FAILED' };
      const [twice, gap, inner, good] = await Promise.allSettled([
        storage.commitUnits([unitOf(run, { entries: [anEntry(1)] })]),
        storage.commitUnits([unitOf(run, { entries: [anEntry(3)] })]),
        storage.commitUnits([unitOf(run, { entries: [anEntry(2), anEntry(2)] })]),
        storage.commitUnits([unitOf(neighbour, { entries: [anEntry(1), anEntry(2)] })]),
      ]);
      for (const outcome of [twice, gap, inner]) {
        assert.equal(outcome.status, 'rejected');
        assert.equal((outcome.reason as { code: string }).code, failed.code);
      }
      assert.deepEqual(good.status === 'fulfilled' && good.value, ['committed']);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), [anEntry(1)]);
      assert.equal((await storage.readJournal(neighbour.run, 0, 10)).length, 2);
      await assert.rejects(
        storage.commitUnits([unitOf(run, { entries: [anEntry(9)] }), unitOf(neighbour, { entries: [anEntry(3)] })]),
        failed,
      );
      assert.equal((await storage.readJournal(neighbour.run, 0, 10)).length, 3, 'the rest of the call stands');
    },
  },
  {
    name: 'a park clears the lease and sets the time; null waits for the inbox alone',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const entries = [anEntry(1)];
      const park = { kind: 'park', status: 'sleeping', dueAt: now + 1000 } as const;
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries, transition: park, inboxSeq: 0 })]), [
        'committed',
      ]);
      assert.deepEqual(await mustGet(storage, run), {
        ...run,
        status: 'sleeping',
        owner: null,
        leaseExpiresAt: null,
        dueAt: now + 1000,
      });
      assert.deepEqual(await claim(storage, { at: now + 999 }), []);
      const [woken] = await claim(storage, { at: now + 1000 });
      assert.ok(woken);
      assert.equal(woken.status, 'running');
      await storage.commitUnits([unitOf(woken, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      assert.deepEqual(await claim(storage, { at: now + 9e9 }), []);
    },
  },
  {
    name: 'an end is final: no lease, no due time, output and error as given, nothing written after it',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const end = {
        kind: 'end',
        status: 'failed',
        output: null,
        error: '{"message":"no"}',
        rollbackStatus: 'completed',
        endedAt: now + 3,
      } as const;
      const unit = unitOf(run, { entries: [anEntry(1)], transition: end });
      assert.deepEqual(await storage.commitUnits([unit, unitOf(run, { entries: [anEntry(2)] })]), [
        'committed',
        'lease-lost',
      ]);
      assert.deepEqual(await mustGet(storage, run), {
        ...run,
        status: 'failed',
        output: null,
        error: '{"message":"no"}',
        rollbackStatus: 'completed',
        endedAt: now + 3,
        owner: null,
        leaseExpiresAt: null,
        dueAt: null,
      });
      assert.deepEqual(await claim(storage, { at: now + 9e9 }), []);
      assert.equal((await storage.readJournal(run.run, 0, 10)).length, 1);
    },
  },
  {
    name: 'a change of state keeps the lease, and the rollback state unless it is given',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      const owed = { kind: 'status', status: 'compensating', rollbackStatus: 'owed' } as const;
      await storage.commitUnits([unitOf(run, { transition: owed })]);
      assert.deepEqual(await mustGet(storage, run), { ...run, status: 'compensating', rollbackStatus: 'owed' });
      await storage.commitUnits([unitOf(run, { transition: { kind: 'status', status: 'running' } })]);
      assert.deepEqual(await mustGet(storage, run), { ...run, status: 'running', rollbackStatus: 'owed' });
      await storage.commitUnits([unitOf(run, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      assert.equal((await mustGet(storage, run)).rollbackStatus, 'owed');
    },
  },
  {
    name: 'no units are no work',
    async run(make) {
      const storage = await make();
      assert.deepEqual(await storage.commitUnits([]), []);
      assert.deepEqual(await storage.commitUnits([], { alone: true }), []);
      assert.deepEqual(await storage.renewLeases('engine-a', [], now, now), []);
      await storage.releaseRuns('engine-a', [], now);
      await storage.enqueueRun(aRun());
      assert.deepEqual(await claim(storage, { limit: 0 }), []);
    },
  },
];
