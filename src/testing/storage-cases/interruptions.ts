import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, anEntry, claim, idsOf, mustGet, now, unitOf } from './case.js';
import { aSuspect, interrupt, takeUp } from './interrupted.js';

export const interruptionCases: readonly StorageCase[] = [
  {
    name: 'the first lease that expires costs no delay, the k-th in a row 2^k seconds, at most five minutes',
    async run(make) {
      const storage = await make();
      let run = await interrupt(storage, await aLeasedRun(storage));
      assert.deepEqual([run.interruptions, run.owner, run.epoch], [1, 'engine-a', 2]);
      const delays: number[] = [];
      for (let k = 2; k <= 11; k += 1) {
        const expiredAt = run.leaseExpiresAt ?? assert.fail('it is leased');
        run = await interrupt(storage, run, true);
        assert.deepEqual(
          [run.interruptions, run.owner, run.leaseExpiresAt, run.status, run.epoch],
          [k, null, null, 'running', k],
        );
        delays.push((run.dueAt ?? 0) - expiredAt);
        assert.deepEqual(await claim(storage, { only: run.id, at: (run.dueAt ?? 0) - 1, alone: true }), []);
        run = await takeUp(storage, run, true);
        assert.equal(run.interruptions, k, 'a claim that is in time is no interruption');
      }
      assert.deepEqual(
        delays,
        [4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map((seconds) => seconds * 1000),
      );
    },
  },
  {
    name: 'a lease that is handed back, or ends with a park, is no interruption, and leaves the count as it is',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      await storage.releaseRuns('engine-a', [run], now);
      const [again] = await claim(storage);
      assert.equal(again?.interruptions, 0);
      const once = await interrupt(storage, again);
      await storage.releaseRuns('engine-a', [once], now);
      const [more] = await claim(storage);
      assert.equal(more?.interruptions, 1);
      await storage.commitUnits([unitOf(more, { transition: { kind: 'park', status: 'sleeping', dueAt: now } })]);
      assert.equal((await claim(storage))[0]?.interruptions, 1);
    },
  },
  {
    name: 'an outcome sets the count back; a unit without one, or one that is refused, does not',
    async run(make) {
      const storage = await make();
      let run = await interrupt(storage, await aLeasedRun(storage));
      await storage.commitUnits([unitOf(run, { entries: [anEntry(1)] })]);
      await storage.commitUnits([unitOf({ ...run, epoch: 1 }, { progress: true })]);
      assert.equal((await mustGet(storage, run)).interruptions, 1);
      await storage.commitUnits([unitOf(run, { entries: [anEntry(2)], progress: true })]);
      assert.deepEqual(await mustGet(storage, run), { ...run, interruptions: 0 });
      run = await interrupt(storage, run);
      assert.deepEqual([run.interruptions, run.owner], [1, 'engine-a'], 'the first again: claimed at once');
    },
  },
  {
    name: 'an expired run that has to wait goes out of the way of those behind it in the same claim',
    async run(make) {
      const storage = await make();
      const run = await interrupt(storage, await aLeasedRun(storage));
      const at = run.leaseExpiresAt ?? 0;
      const { run: next } = await storage.enqueueRun(aRun({ dueAt: at }));
      assert.deepEqual(idsOf(await claim(storage, { at, limit: 1 })), [next.id]);
      assert.equal((await mustGet(storage, run)).dueAt, at + 4000);
    },
  },
  {
    name: 'a suspect is given to an engine that drives nothing else, alone, and holds up nobody',
    async run(make) {
      const storage = await make();
      const suspect = await aSuspect(storage);
      assert.equal(suspect.interruptions, 3);
      const at = (suspect.dueAt ?? 0) + 10;
      const others = [aRun({ dueAt: at - 1 }), aRun({ dueAt: at }), aRun({ dueAt: at })];
      for (const other of others) await storage.enqueueRun(other);
      assert.equal(await storage.nextDueAt(['hash-mail-1']), suspect.dueAt);

      assert.deepEqual(await claim(storage, { only: suspect.id, at }), [], 'not to one that drives something');
      assert.deepEqual(idsOf(await claim(storage, { at, limit: 1 })), idsOf(others.slice(0, 1)));
      assert.deepEqual(
        idsOf(await claim(storage, { at, alone: true })),
        [suspect.id],
        'the oldest, and nothing beside',
      );
      assert.deepEqual(idsOf(await claim(storage, { at, alone: true })), idsOf(others.slice(1)));
    },
  },
  {
    name: 'a suspect does not join runs that were due before it; it is an ordinary run again after an outcome',
    async run(make) {
      const storage = await make();
      const suspect = await aSuspect(storage);
      const at = suspect.dueAt ?? 0;
      const { run: older } = await storage.enqueueRun(aRun({ dueAt: at - 1 }));
      const { run: newer } = await storage.enqueueRun(aRun({ dueAt: at + 1 }));
      assert.deepEqual(idsOf(await claim(storage, { at: at + 1, alone: true })), [older.id, newer.id]);
      const taken = await takeUp(storage, suspect, true);
      const transition = { kind: 'park', status: 'sleeping', dueAt: at } as const;
      await storage.commitUnits([unitOf(taken, { progress: true, transition })]);
      assert.deepEqual(idsOf(await claim(storage, { at })), [suspect.id]);
    },
  },
  {
    name: 'a suspect that is overdue holds up what is younger, of any definition, unless its workflow is full',
    async run(make) {
      const storage = await make();
      const suspect = await aSuspect(storage);
      const due = suspect.dueAt ?? assert.fail('it is due');
      const at = due + 10;
      const elsewhere = { workflow: 'other', definitionHash: 'hash-other', dueAt: due + 3 };
      const others = [aRun({ dueAt: due - 1 }), aRun({ dueAt: due + 1 }), aRun({ dueAt: due + 2 }), aRun(elsewhere)];
      for (const other of others) await storage.enqueueRun(other);
      const [older, younger, youngest, foreign] = idsOf(others);
      const hashes = ['hash-mail-1', 'hash-other'];

      assert.deepEqual(idsOf(await claim(storage, { hashes, at, limit: 2, overdueSince: due - 1 })), [older, younger]);
      assert.deepEqual(await claim(storage, { hashes, at, overdueSince: due }), [], 'it is the oldest');
      assert.deepEqual(await claim(storage, { hashes, at, overdueSince: due + 9 }), []);
      await storage.setWorkflowLimit('mail', 1, 2);
      assert.deepEqual(idsOf(await claim(storage, { hashes, at, overdueSince: due })), [foreign], 'it has no place');
      await storage.setWorkflowLimit('mail', 1, null);
      assert.deepEqual(await claim(storage, { hashes, at, overdueSince: due }), []);
      assert.deepEqual(idsOf(await claim(storage, { hashes, at, overdueSince: due, alone: true })), [suspect.id]);
      assert.deepEqual(idsOf(await claim(storage, { hashes, at, overdueSince: due })), [youngest], 'another has it');
    },
  },
  {
    name: 'what was due before a suspect that is overdue comes first, and nothing beside it',
    async run(make) {
      const storage = await make();
      const suspect = await aSuspect(storage);
      const at = suspect.dueAt ?? assert.fail('it is due');
      const { run: older } = await storage.enqueueRun(aRun({ dueAt: at - 1 }));
      await storage.enqueueRun(aRun({ dueAt: at }));
      assert.deepEqual(idsOf(await claim(storage, { at, alone: true, overdueSince: at })), [older.id]);
      assert.deepEqual(idsOf(await claim(storage, { at, alone: true, overdueSince: at })), [suspect.id]);
    },
  },
  {
    name: 'a suspect whose lease expired unnoticed is put off by an engine that drives something, and holds up nobody',
    async run(make) {
      const storage = await make();
      const taken = await takeUp(storage, await aSuspect(storage), true);
      const expiredAt = taken.leaseExpiresAt ?? assert.fail('it is leased');
      const { run: younger } = await storage.enqueueRun(aRun({ dueAt: expiredAt + 5 }));
      const at = expiredAt + 10;
      assert.deepEqual(idsOf(await claim(storage, { at, overdueSince: expiredAt })), [younger.id]);
      const { owner, interruptions, dueAt } = await mustGet(storage, taken);
      assert.deepEqual([owner, interruptions, dueAt], [null, 4, at + 16_000]);
    },
  },
  {
    name: 'what a dead engine drove is interrupted: due at once the first time, later from the second on',
    needs: 'provesDeath',
    async run(make) {
      const [first, second, witness] = [await make(), await make(), await make()];
      await first.registerEngine('engine-a');
      const once = await aLeasedRun(first);
      await first.close();
      await witness.releaseDeadEngines(now + 5);
      assert.deepEqual(await mustGet(witness, once), {
        ...once,
        owner: null,
        leaseExpiresAt: null,
        dueAt: now,
        interruptions: 1,
      });
      await second.registerEngine('engine-b');
      const [again] = await claim(second, { owner: 'engine-b', at: now + 5 });
      assert.equal(again?.interruptions, 1);
      await second.close();
      assert.deepEqual(idsOf(await witness.releaseDeadEngines(now + 9)), [once.id]);
      const twice = await mustGet(witness, once);
      assert.deepEqual([twice.interruptions, twice.dueAt], [2, now + 9 + 4000]);
      assert.deepEqual(await claim(witness, { at: now + 4008 }), []);
      assert.equal((await claim(witness, { at: now + 4009 }))[0]?.interruptions, 2);
    },
  },
];
