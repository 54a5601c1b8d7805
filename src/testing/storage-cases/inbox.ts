import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, anEntry, claim, mustGet, now, unitOf } from './case.js';

const message = { kind: 'signal', name: 'approved', payload: '{"by":"me"}', at: now + 10 };

export const inboxCases: readonly StorageCase[] = [
  {
    name: 'messages are numbered within the run and read in order, after a seq',
    async run(make) {
      const storage = await make();
      const { run } = await storage.enqueueRun(aRun());
      const { run: other } = await storage.enqueueRun(aRun());
      const cancel = { kind: 'cancel', name: null, payload: null, at: now + 11 };
      assert.deepEqual(await storage.postInbox(run.id, message), { seq: 1, ...message });
      assert.deepEqual(await storage.postInbox(other.id, message), { seq: 1, ...message });
      assert.deepEqual(await storage.postInbox(run.id, cancel), { seq: 2, ...cancel });
      assert.deepEqual(await storage.readInbox(run.run, 0), [
        { seq: 1, ...message },
        { seq: 2, ...cancel },
      ]);
      assert.deepEqual(await storage.readInbox(run.run, 1), [{ seq: 2, ...cancel }]);
      assert.equal((await mustGet(storage, run)).inboxSeq, 2);
    },
  },
  {
    name: 'a parked run becomes due at once; one that is due already keeps its place; a leased one keeps its lease',
    async run(make) {
      const storage = await make();
      const waiting = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(waiting, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      const sleeping = await aLeasedRun(storage);
      await storage.commitUnits([
        unitOf(sleeping, { transition: { kind: 'park', status: 'sleeping', dueAt: now + 9e6 } }),
      ]);
      const { run: pending } = await storage.enqueueRun(aRun({ dueAt: now - 5 }));
      const leased = await aLeasedRun(storage);
      for (const run of [waiting, sleeping, pending, leased]) await storage.postInbox(run.id, message);
      const dueAt = async (run: { id: string }) => (await mustGet(storage, run)).dueAt;
      assert.equal(await dueAt(waiting), message.at);
      assert.equal(await dueAt(sleeping), message.at);
      assert.equal(await dueAt(pending), now - 5);
      assert.deepEqual(await mustGet(storage, leased), { ...leased, inboxSeq: 1 });
      assert.equal((await mustGet(storage, waiting)).status, 'waiting', 'until it is claimed');
      assert.equal((await claim(storage, { only: waiting.id, at: message.at })).length, 1);
    },
  },
  {
    name: 'a run that is unknown or has ended takes no message',
    async run(make) {
      const storage = await make();
      assert.equal(await storage.postInbox('wf_none', message), undefined);
      const run = await aLeasedRun(storage);
      const end = { kind: 'end', status: 'cancelled', output: null, error: null, rollbackStatus: null, endedAt: now };
      await storage.commitUnits([unitOf(run, { transition: { ...end, kind: 'end', status: 'cancelled' } })]);
      assert.equal(await storage.postInbox(run.id, message), undefined);
      assert.deepEqual(await storage.readInbox(run.run, 0), []);
      assert.equal((await mustGet(storage, run)).dueAt, null);
    },
  },
  {
    name: 'a unit that has not seen the newest message is refused with the lease still held; without inboxSeq it is not',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      await storage.postInbox(run.id, message);
      const park = { kind: 'park', status: 'waiting', dueAt: null } as const;
      const blind = unitOf(run, { entries: [anEntry(1)], transition: park, inboxSeq: 0 });
      assert.deepEqual(await storage.commitUnits([blind]), ['inbox-changed']);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), []);
      assert.equal((await mustGet(storage, run)).owner, 'engine-a');
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries: [anEntry(1)] })]), ['committed']);
      assert.deepEqual(
        await storage.commitUnits([unitOf(run, { entries: [anEntry(2)], transition: park, inboxSeq: 1 })]),
        ['committed'],
      );
    },
  },
  {
    name: 'a park that crosses a message is refused or woken, never asleep with mail',
    async run(make) {
      const storage = await make();
      for (let round = 0; round < 20; round += 1) {
        const run = await aLeasedRun(storage);
        const park = unitOf(run, { transition: { kind: 'park', status: 'waiting', dueAt: null }, inboxSeq: 0 });
        const asked = [() => storage.commitUnits([park]), () => storage.postInbox(run.id, message)];
        if (round % 2 === 0) asked.reverse();
        const outcomes = await Promise.all(asked.map((ask) => ask()));
        const after = await mustGet(storage, run);
        if (outcomes.flat().includes('inbox-changed')) assert.equal(after.owner, 'engine-a');
        else assert.equal(after.dueAt, message.at);
      }
    },
  },
];
