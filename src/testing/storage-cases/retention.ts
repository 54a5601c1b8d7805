import assert from 'node:assert/strict';
import type { NewRun, RunRecord, Storage } from '../../storage/index.js';
import {
  type StorageCase,
  aLeasedRun,
  aPost,
  aRun,
  anEnd,
  anEntry,
  claim,
  end,
  idsOf,
  mustGet,
  now,
  unitOf,
} from './case.js';

type Ended = Parameters<typeof end>[2];

async function anEnded(storage: Storage, ended: Ended = {}, overrides: Partial<NewRun> = {}): Promise<RunRecord> {
  return end(storage, await aLeasedRun(storage, overrides), ended);
}

/** A completed parent with so many completed children. */
async function aTree(storage: Storage, children = 1, ended: Ended = {}): Promise<RunRecord> {
  const parent = await aLeasedRun(storage);
  for (let index = 0; index < children; index += 1) {
    await anEnded(storage, {}, { parent: { id: parent.id, step: 'ship', occurrence: String(index) } });
  }
  return end(storage, parent, ended);
}

const all = { endedBefore: now, limit: 1000 };

/** Both ways to put runs away choose them alike. */
const ways: readonly {
  name: string;
  apply: (storage: Storage, query: Parameters<Storage['cleanup']>[0]) => Promise<number>;
}[] = [
  { name: 'clean-up', apply: (storage, query) => storage.cleanup(query) },
  { name: 'archiving', apply: (storage, query) => storage.archive(query, now + 1) },
];

async function listed(storage: Storage): Promise<string[]> {
  return idsOf((await storage.listRuns({})).runs);
}

const choosing: StorageCase[] = ways.flatMap(({ name, apply }) => [
  {
    name: `${name} takes what ended at or before the cut-off, in the given states, and nothing unfinished`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      const newer = await anEnded(storage, { endedAt: now + 1 });
      const atCutOff = await anEnded(storage, { endedAt: now });
      const failed = await anEnded(storage, { endedAt: now - 5, status: 'failed', rollbackStatus: 'completed' });
      const open = await aLeasedRun(storage);
      const { run: pending } = await storage.enqueueRun(aRun());
      assert.equal(await apply(storage, { ...all, statuses: ['cancelled'] }), 0);
      assert.equal(await apply(storage, { ...all, statuses: [] }), 0);
      assert.equal(await apply(storage, { ...all, limit: 0 }), 0);
      assert.equal(await apply(storage, { ...all, statuses: ['failed', 'cancelled'] }), 1);
      assert.deepEqual((await listed(storage)).includes(failed.id), false);
      assert.equal(await apply(storage, all), 1);
      assert.deepEqual((await listed(storage)).sort(), idsOf([newer, open, pending]).sort());
      assert.equal((await listed(storage)).includes(atCutOff.id), false);
      assert.equal(await apply(storage, all), 0);
    },
  },
  {
    name: `${name} leaves a tree in which anything is unfinished, owed or stuck, and then takes it whole`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      for (const rollbackStatus of ['owed', 'stuck'] as const) {
        await anEnded(storage, { status: 'failed', rollbackStatus });
      }
      const kept = (await listed(storage)).length;
      const parent = await aLeasedRun(storage);
      const child = await aLeasedRun(storage, { parent: { id: parent.id, step: 'ship', occurrence: '0' } });
      const grandchild = await aLeasedRun(storage, { parent: { id: child.id, step: 'ship', occurrence: '0' } });
      await end(storage, parent);
      await end(storage, child);
      assert.equal(await apply(storage, all), 0, 'a grandchild runs');
      await end(storage, grandchild, { endedAt: now + 100 });
      assert.equal(await apply(storage, all), 3, 'the root’s end decides');
      assert.equal((await listed(storage)).length, kept);
    },
  },
  {
    name: `${name} leaves a child with its parent`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      const parent = await aLeasedRun(storage);
      const child = await anEnded(storage, {}, { parent: { id: parent.id, step: 'ship', occurrence: '0' } });
      assert.equal(await apply(storage, all), 0);
      assert.deepEqual(await mustGet(storage, child), child);
    },
  },
  {
    name: `${name} takes the oldest first, whole trees up to the limit, a larger one by itself`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      const third = await anEnded(storage, { endedAt: now - 1 });
      await aTree(storage, 3, { endedAt: now - 2 });
      const first = await anEnded(storage, { endedAt: now - 3 });
      assert.equal(await apply(storage, { ...all, limit: 2 }), 1, 'the tree does not fit any more');
      assert.equal((await listed(storage)).includes(first.id), false);
      assert.equal(await apply(storage, { ...all, limit: 2 }), 4);
      assert.deepEqual(await listed(storage), [third.id]);
      assert.equal(await apply(storage, { ...all, limit: 2 }), 1);
    },
  },
  {
    name: `${name} takes a run that was resumed, but not children that the new run may have to unwind`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      const alone = await anEnded(storage, { status: 'failed' });
      const parent = await aTree(storage, 1, { status: 'failed' });
      const heirs = [aRun({ dueAt: now }), aRun({ dueAt: now })];
      await storage.resumeRun({ from: alone.id, run: heirs[0] ?? assert.fail(), entries: [] });
      await storage.resumeRun({ from: parent.id, run: heirs[1] ?? assert.fail(), entries: [] });
      assert.equal(await apply(storage, all), 1);
      assert.equal((await listed(storage)).includes(alone.id), false);
      for (const heir of await claim(storage)) await end(storage, heir, { endedAt: now + 1 });
      assert.equal(await apply(storage, all), 2);
      assert.deepEqual((await listed(storage)).sort(), idsOf(heirs).sort());
    },
  },
  {
    name: `${name} takes a tree of thousands of runs, and long journals, and lets others work meanwhile`,
    async run(make: () => Promise<Storage>) {
      const storage = await make();
      const parent = await aLeasedRun(storage);
      const children = Array.from({ length: 2300 }, (_, index) =>
        aRun({ parent: { id: parent.id, step: 'ship', occurrence: String(index) }, input: '{"n":1}' }),
      );
      const entries = Array.from({ length: 2500 }, (_, index) => anEntry(index + 1));
      await storage.commitUnits([unitOf(parent, { entries, children })]);
      for (let claimed = await claim(storage, { limit: 500 }); claimed.length > 0;) {
        await storage.commitUnits(claimed.map((run) => unitOf(run, { transition: anEnd() })));
        claimed = await claim(storage, { limit: 500 });
      }
      await end(storage, parent);
      const driven = await aLeasedRun(storage);
      let isDone = false;
      const putAway = apply(storage, { ...all, limit: 10 }).finally(() => (isDone = true));
      let commits = 0;
      do {
        commits += 1;
        assert.deepEqual(await storage.commitUnits([unitOf(driven, { entries: [anEntry(commits)] })]), ['committed']);
      } while (!isDone);
      assert.equal(await putAway, 2301);
      assert.deepEqual(await listed(storage), [driven.id]);
    },
  },
]);

export const retentionCases: readonly StorageCase[] = [
  ...choosing,
  {
    name: 'what is cleaned up is gone for good, with its journal, inbox, key and place; numbers are not used again',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage, { key: 'order-1' });
      await storage.postInbox(run.id, aPost({ kind: 'signal', name: 'go', payload: '{}', at: now }));
      await storage.commitUnits([unitOf(run, { entries: [anEntry(1), anEntry(2)] })]);
      const child = aRun({ parent: { id: run.id, step: 'ship', occurrence: '0' } });
      await storage.enqueueRun(child);
      const [driven] = await claim(storage, { only: child.id });
      await end(storage, driven ?? assert.fail());
      await end(storage, run);
      assert.equal(await storage.cleanup(all), 2);
      assert.equal(await storage.getRun(run.id), undefined);
      assert.equal(await storage.getRunByKey('mail', 'order-1'), undefined);
      assert.deepEqual(await storage.listChildren(run.id), []);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), []);
      assert.deepEqual(await storage.readInbox(run.run, 0), []);
      const post = await storage.postInbox(run.id, aPost({ kind: 'signal', name: 'go', payload: null, at: now }));
      assert.deepEqual(post, { kind: 'unknown' });
      const again = await storage.enqueueRun(aRun({ key: 'order-1' }));
      assert.equal(again.created, true);
      assert.ok(again.run.run > (driven?.run ?? Infinity), 'a new number');
      assert.deepEqual(await storage.readJournal(again.run.run, 0, 10), []);
    },
  },
  {
    name: 'archived runs are not listed but by asking, are read by id and key, and keep the key',
    async run(make) {
      const storage = await make();
      const run = await anEnded(storage, {}, { key: 'order-1' });
      const stays = await aLeasedRun(storage);
      assert.equal(await storage.countArchived(), 0);
      assert.equal(await storage.archive(all, now + 9), 1);
      const archived = { ...run, archivedAt: now + 9 };
      assert.deepEqual(await storage.getRun(run.id), archived);
      assert.deepEqual(await storage.getRunByKey('mail', 'order-1'), archived);
      assert.deepEqual(await storage.enqueueRun(aRun({ key: 'order-1' })), { run: archived, created: false });
      assert.deepEqual(await listed(storage), [stays.id]);
      assert.deepEqual((await storage.listRuns({ archived: true })).runs, [archived]);
      assert.deepEqual((await storage.listRuns({ archived: true, statuses: ['failed'] })).runs, []);
      assert.deepEqual(await listed(storage), idsOf((await storage.listRuns({ archived: false })).runs));
      assert.equal(await storage.countArchived(), 1);
      assert.equal(await storage.archive(all, now + 10), 0);
      assert.equal(await storage.cleanup(all), 1);
      assert.equal(await storage.countArchived(), 0);
    },
  },
  {
    name: 'a clean-up takes archived runs and others in the order of their ends',
    async run(make) {
      const storage = await make();
      await anEnded(storage, { endedAt: now - 4 });
      await anEnded(storage, { endedAt: now - 2 });
      await storage.archive(all, now);
      const third = await anEnded(storage, { endedAt: now - 3 });
      const last = await anEnded(storage, { endedAt: now - 1 });
      assert.equal(await storage.cleanup({ ...all, limit: 1 }), 1);
      assert.deepEqual([await storage.countArchived(), await listed(storage)], [1, [last.id, third.id]]);
      assert.equal(await storage.cleanup({ ...all, limit: 1 }), 1);
      assert.deepEqual([await storage.countArchived(), await listed(storage)], [1, [last.id]]);
    },
  },
  {
    name: 'an archived run that is to be unwound after all is listed again',
    async run(make) {
      const storage = await make();
      const run = await anEnded(storage);
      const driver = await aLeasedRun(storage);
      await storage.archive(all, now);
      await storage.commitUnits([unitOf(driver, { reopen: [{ runId: run.id, dueAt: now }] })]);
      assert.deepEqual((await listed(storage)).sort(), idsOf([run, driver]).sort());
      assert.equal((await mustGet(storage, run)).archivedAt, null);
    },
  },
  {
    name: 'two storages that clean up at once remove each run once',
    needs: 'shared',
    async run(make) {
      const [a, b] = [await make(), await make()];
      await Promise.all(Array.from({ length: 30 }, () => aTree(a, 2)));
      const counts = await Promise.all([a.cleanup(all), b.cleanup(all), a.archive(all, now)]);
      assert.ok(counts[0] + counts[1] === 90, `${counts.join(' and ')} runs`);
      assert.deepEqual((await b.listRuns({ archived: true })).runs, []);
      assert.deepEqual(await listed(b), []);
    },
  },
];
