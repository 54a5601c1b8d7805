import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, anEntry, claim, end, leaseMs, mustGet, now, unitOf } from './case.js';

const hashes = ['hash-mail-1'];
const nothing = { parked: 0, orphans: [], withoutDefinition: [], suspects: [], othersAlive: false };

export const surveyCases: readonly StorageCase[] = [
  {
    name: 'a survey counts the parked runs of the given definitions alone',
    async run(make) {
      const storage = await make();
      assert.deepEqual(await storage.survey('engine-a', hashes, now), nothing);
      for (const status of ['sleeping', 'waiting', 'retrying', 'compensation-stuck', 'compensating'] as const) {
        const run = await aLeasedRun(storage);
        const dueAt = status === 'sleeping' ? now - 1 : status === 'retrying' ? now + 99 : null;
        await storage.commitUnits([unitOf(run, { transition: { kind: 'park', status, dueAt } })]);
      }
      // Driven, new, ended, handed back: not parked.
      await aLeasedRun(storage);
      await end(storage, await aLeasedRun(storage));
      const unwinding = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(unwinding, { transition: { kind: 'status', status: 'compensating' } })]);
      for (const run of [unwinding, await aLeasedRun(storage)]) await storage.releaseRuns('engine-a', [run], now);
      await storage.enqueueRun(aRun());
      const other = await aLeasedRun(storage, { definitionHash: 'hash-mail-2' });
      await storage.commitUnits([unitOf(other, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      const { parked, withoutDefinition } = await storage.survey('engine-a', hashes, now);
      assert.equal(parked, 5);
      assert.deepEqual(withoutDefinition, [await mustGet(storage, other)]);
      assert.equal((await storage.survey('engine-a', [...hashes, 'hash-mail-2'], now)).parked, 6);
      assert.equal((await storage.survey('engine-a', [], now)).parked, 0);
    },
  },
  {
    name: 'a survey names unfinished runs of unknown definitions, orphans, and suspects, in order of insertion',
    async run(make) {
      const storage = await make();
      const { run: stray } = await storage.enqueueRun(aRun({ definitionHash: 'hash-b' }));
      const { run: strayToo } = await storage.enqueueRun(aRun({ definitionHash: 'hash-a' }));
      const parent = await aLeasedRun(storage);
      await storage.enqueueRun(aRun({ parent: { id: parent.id, step: 'ship', occurrence: '0' } }));
      const orphans = [aRun(), aRun()].map((run, index) => ({
        ...run,
        parent: { id: `wf_gone_${2 - index}`, step: 'ship', occurrence: '0' },
      }));
      for (const orphan of orphans) await storage.enqueueRun(orphan);
      const ended = aRun({ parent: { id: 'wf_gone', step: 'ship', occurrence: '0' } });
      await storage.enqueueRun(ended);
      const [driven] = await claim(storage, { only: ended.id });
      await end(storage, driven ?? assert.fail());

      const suspect = await aLeasedRun(storage, { workflow: 'post', definitionHash: 'hash-post-1' });
      for (let at = now, interruptions = 0; interruptions < 3;) {
        at = (await mustGet(storage, suspect)).dueAt ?? assert.fail();
        await claim(storage, { only: suspect.id, hashes: ['hash-post-1'], at });
        ({ interruptions } = await mustGet(storage, suspect));
      }
      const survey = await storage.survey('engine-a', [...hashes, 'hash-post-1'], now);
      assert.deepEqual(survey.withoutDefinition, [stray, strayToo]);
      assert.deepEqual(
        survey.orphans,
        orphans.map(({ id }) => id),
      );
      assert.deepEqual(survey.suspects, [suspect.id]);
    },
  },
  {
    name: 'where death cannot be proved, others are alive while a lease of theirs has not expired',
    async run(make) {
      const storage = await make();
      if (storage.capabilities.provesDeath) return;
      await aLeasedRun(storage, {}, 'engine-b');
      assert.equal((await storage.survey('engine-b', hashes, now)).othersAlive, false);
      assert.equal((await storage.survey('engine-a', hashes, now + leaseMs - 1)).othersAlive, true);
      assert.equal((await storage.survey('engine-a', hashes, now + leaseMs)).othersAlive, false);
    },
  },
  {
    name: 'where death can be proved, others are alive while they are registered, whatever they have leased',
    needs: 'provesDeath',
    async run(make) {
      const [a, b] = [await make(), await make()];
      await a.registerEngine('engine-a');
      await aLeasedRun(a, {}, 'engine-gone');
      const seen = async () => [
        (await a.survey('engine-a', hashes, now)).othersAlive,
        (await b.survey('engine-b', hashes, now)).othersAlive,
      ];
      assert.deepEqual(await seen(), [false, true]);
      await b.registerEngine('engine-b');
      assert.deepEqual(await seen(), [true, true]);
      const run = await aLeasedRun(b, {}, 'engine-b');
      assert.deepEqual(await b.commitUnits([unitOf(run, { entries: [anEntry(1)] })]), ['committed']);
      await b.unregisterEngine('engine-b');
      assert.deepEqual(await seen(), [false, true]);
      await a.registerEngine('engine-c');
      assert.deepEqual(await seen(), [true, true]);
      await a.close();
      assert.equal((await b.survey('engine-b', hashes, now)).othersAlive, false);
    },
  },
];
