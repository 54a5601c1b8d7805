import assert from 'node:assert/strict';
import type { NewInboxMessage, RunRecord, Storage } from '../../storage/index.js';
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
  leaseMs,
  mustGet,
  now,
  unitOf,
} from './case.js';

/** What a run's unit does to other runs, and a run that takes over another. */

const message: NewInboxMessage = { kind: 'child-ended', name: 'ship', payload: '{"status":"completed"}', at: now + 10 };
const waiting = { kind: 'park', status: 'waiting', dueAt: null } as const;

function aChild(parent: { id: string }, occurrence: string, step = 'ship') {
  return aRun({ parent: { id: parent.id, step, occurrence } });
}

async function aFailedRun(storage: Storage, key: string | null = null) {
  const run = await aLeasedRun(storage, { key });
  return end(storage, run, { status: 'failed', error: '{"message":"no"}' });
}

const childCases: readonly StorageCase[] = [
  {
    name: 'children begin with the unit that starts them, and are listed in order of insertion',
    async run(make) {
      const storage = await make();
      const parent = await aLeasedRun(storage);
      const other = await aLeasedRun(storage);
      const [first, second, third] = [aChild(parent, '1'), aChild(parent, '0'), aChild(parent, '0', 'bill')];
      const unit = unitOf(parent, { entries: [anEntry(1)], children: [first, second] });
      const others = unitOf(other, { children: [aChild(other, '0')] });
      assert.deepEqual(await storage.commitUnits([unit, others]), ['committed', 'committed']);
      await storage.commitUnits([unitOf(parent, { entries: [anEntry(2)], children: [third], transition: waiting })]);

      const children = await storage.listChildren(parent.id);
      assert.deepEqual(idsOf(children), idsOf([first, second, third]));
      const [record] = children;
      assert.deepEqual(
        [record?.status, record?.dueAt, record?.parentId, record?.parentStep, record?.parentOccurrence],
        ['pending', first.dueAt, parent.id, 'ship', '1'],
      );
      assert.deepEqual(record, await mustGet(storage, first));
      assert.deepEqual(idsOf(await claim(storage, { only: third.id })), [third.id]);
      assert.deepEqual(await storage.listChildren(first.id), []);
    },
  },
  {
    name: '`only` takes a run and those that it owns at any depth, oldest due first, and no others',
    async run(make) {
      const storage = await make();
      const hashes = ['hash-mail-1', 'hash-post-1'];
      const root = await aLeasedRun(storage);
      const stranger = await aLeasedRun(storage);
      const child = { ...aChild(root, '0'), dueAt: now + 5 };
      await storage.commitUnits([
        unitOf(root, { children: [child], transition: waiting }),
        unitOf(stranger, { children: [{ ...aChild(stranger, '0'), dueAt: now + 1 }], transition: waiting }),
      ]);
      assert.equal(await storage.nextDueAt(hashes, root.id), now + 5);
      const [driven] = await claim(storage, { only: root.id, hashes, at: now + 5 });
      assert.ok(driven);
      assert.equal(driven.id, child.id);
      const older = { ...aChild(child, '1'), dueAt: now + 7, workflow: 'post', definitionHash: 'hash-post-1' };
      const newer = { ...aChild(child, '0'), dueAt: now + 8 };
      await storage.commitUnits([
        unitOf(driven, { children: [newer, older], transition: anEnd({ endedAt: now + 6 }) }),
      ]);

      assert.equal(await storage.nextDueAt(hashes, root.id), now + 7);
      assert.equal(await storage.nextDueAt(['hash-mail-1'], root.id), now + 8);
      assert.equal(await storage.nextDueAt(hashes, 'wf_none'), undefined);
      assert.equal(await storage.nextDueAt(hashes), now + 1);
      const claimed = await claim(storage, { only: root.id, hashes, at: now + 9 });
      assert.deepEqual(idsOf(claimed), idsOf([older, newer]));
      assert.deepEqual(await claim(storage, { only: root.id, hashes, at: now + 9 }), []);
    },
  },
  {
    name: 'a place in a parent is taken once: by units, within one, and by an enqueue',
    async run(make) {
      const storage = await make();
      const parent = await aLeasedRun(storage);
      const child = aChild(parent, '0');
      await storage.commitUnits([unitOf(parent, { children: [child, aChild(parent, '0')] })]);
      const unit = unitOf(parent, { entries: [anEntry(1)], children: [aChild(parent, '0'), aChild(parent, '1')] });
      assert.deepEqual(await storage.commitUnits([unit]), ['committed']);
      const again = await storage.enqueueRun(aChild(parent, '0'));
      assert.deepEqual([again.created, again.run.id], [false, child.id]);
      const children = await storage.listChildren(parent.id);
      assert.deepEqual(
        children.map(({ parentOccurrence }) => parentOccurrence),
        ['0', '1'],
      );
      assert.equal(children[0]?.id, child.id);
    },
  },
  {
    name: 'a child with an id or a key that is taken fails the unit whole, and not its neighbours',
    async run(make) {
      const storage = await make();
      const parent = await aLeasedRun(storage);
      const neighbour = await aLeasedRun(storage);
      await storage.enqueueRun(aRun({ key: 'taken' }));
      const child = aChild(parent, '0');
      for (const clash of [{ id: neighbour.id }, { key: 'taken' }, { id: child.id }]) {
        const children = [child, { ...aChild(parent, '1'), ...clash }];
        const posts = [{ runId: neighbour.id, message }];
        const [failed] = await Promise.allSettled([
          storage.commitUnits([unitOf(parent, { entries: [anEntry(1)], children, posts, transition: waiting })]),
          storage.commitUnits([unitOf(neighbour, { children: [aChild(neighbour, JSON.stringify(clash))] })]),
        ]);
        assert.equal(failed.status, 'rejected');
        assert.equal((failed.reason as { code: string }).code, 'RS_STORAGE_FAILED');
      }
      assert.deepEqual(await storage.listChildren(parent.id), []);
      assert.deepEqual(await storage.readJournal(parent.run, 0, 10), []);
      assert.deepEqual(await mustGet(storage, parent), parent);
      assert.deepEqual(await mustGet(storage, neighbour), neighbour, 'no message');
      assert.equal((await storage.listChildren(neighbour.id)).length, 3);
    },
  },
];

const postCases: readonly StorageCase[] = [
  {
    name: 'a unit’s messages arrive with it: a parked run is woken, a leased one keeps its lease',
    async run(make) {
      const storage = await make();
      const parked = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(parked, { transition: waiting })]);
      const leased = await aLeasedRun(storage, {}, 'engine-b');
      await storage.postInbox(leased.id, aPost(message));
      const child = await aLeasedRun(storage);
      const posts = [parked, leased].map(({ id }) => ({ runId: id, message }));
      assert.deepEqual(
        await storage.commitUnits([unitOf(child, { entries: [anEntry(1)], transition: anEnd(), posts })]),
        ['committed'],
      );
      assert.deepEqual(await storage.readInbox(parked.run, 0), [{ seq: 1, ...message }]);
      assert.deepEqual(await storage.readInbox(leased.run, 1), [{ seq: 2, ...message }]);
      const woken = await mustGet(storage, parked);
      assert.deepEqual([woken.status, woken.dueAt, woken.inboxSeq], ['waiting', message.at, 1]);
      assert.deepEqual(await mustGet(storage, leased), { ...leased, inboxSeq: 2 });
      assert.deepEqual(await storage.commitUnits([unitOf(leased, { transition: waiting, inboxSeq: 1 })]), [
        'inbox-changed',
      ]);
    },
  },
  {
    name: 'messages to a run that is unknown or has ended are dropped; those to a child of the same unit are not',
    async run(make) {
      const storage = await make();
      const ended = await end(storage, await aLeasedRun(storage));
      const run = await aLeasedRun(storage);
      const child = aChild(run, '0');
      const posts = ['wf_none', ended.id, child.id].map((runId) => ({ runId, message }));
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries: [anEntry(1)], children: [child], posts })]), [
        'committed',
      ]);
      assert.deepEqual(await mustGet(storage, ended), ended);
      assert.deepEqual(await storage.readInbox(ended.run, 0), []);
      assert.deepEqual(await storage.readInbox((await mustGet(storage, child)).run, 0), [{ seq: 1, ...message }]);
    },
  },
  {
    name: 'a refused unit starts no child, sends no message and reopens nothing',
    async run(make) {
      const storage = await make();
      const target = await aLeasedRun(storage);
      const completed = await end(storage, await aLeasedRun(storage));
      const run = await aLeasedRun(storage);
      await storage.postInbox(run.id, aPost(message));
      const effects = {
        entries: [anEntry(1)],
        children: [aChild(run, '0')],
        posts: [{ runId: target.id, message }],
        reopen: [{ runId: completed.id, dueAt: now }],
      };
      assert.deepEqual(
        await storage.commitUnits([
          unitOf({ ...run, owner: 'engine-b' }, effects),
          unitOf({ ...run, epoch: run.epoch + 1 }, effects),
          unitOf(run, { ...effects, inboxSeq: 0 }),
        ]),
        ['lease-lost', 'lease-lost', 'inbox-changed'],
      );
      assert.deepEqual(await storage.listChildren(run.id), []);
      assert.deepEqual(await mustGet(storage, target), target);
      assert.deepEqual(await mustGet(storage, completed), completed);
    },
  },
];

const reopenCases: readonly StorageCase[] = [
  {
    name: 'a completed run is reopened: owed, due, compensating when claimed, and it can end again',
    async run(make) {
      const storage = await make();
      const child = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(child, { entries: [anEntry(1)] })]);
      const completed = await end(storage, child, { output: '{"shipped":true}' });
      const parent = await aLeasedRun(storage);
      const reopen = [{ runId: child.id, dueAt: now + 20 }];
      assert.deepEqual(await storage.commitUnits([unitOf(parent, { entries: [anEntry(1)], reopen })]), ['committed']);
      const reopened = { ...completed, status: 'compensating', rollbackStatus: 'owed', dueAt: now + 20, endedAt: null };
      assert.deepEqual(await mustGet(storage, child), reopened);
      assert.deepEqual(await storage.unfinishedHashes('mail', 1, 'hash-other'), ['hash-mail-1']);
      assert.equal((await storage.postInbox(child.id, aPost({ ...message, at: now + 30 }))).kind, 'posted');

      assert.deepEqual(await claim(storage, { only: child.id, at: now + 19 }), []);
      const [claimed] = await claim(storage, { only: child.id, at: now + 20 });
      assert.ok(claimed);
      assert.deepEqual(claimed, {
        ...reopened,
        owner: 'engine-a',
        epoch: child.epoch + 1,
        dueAt: now + 20 + leaseMs,
        leaseExpiresAt: now + 20 + leaseMs,
        inboxSeq: 1,
      });
      const unwound = { output: claimed.output, rollbackStatus: 'completed', endedAt: now + 40 } as const;
      assert.deepEqual(
        await storage.commitUnits([unitOf(claimed, { entries: [anEntry(2)], transition: anEnd(unwound) })]),
        ['committed'],
      );
      await storage.commitUnits([unitOf(parent, { reopen })]);
      const last = await mustGet(storage, child);
      assert.deepEqual([last.status, last.rollbackStatus, last.endedAt], ['completed', 'completed', now + 40]);
    },
  },
  {
    name: 'what has not completed, or has a rollback status, or does not exist, is not reopened',
    async run(make) {
      const storage = await make();
      const runs = [
        await aLeasedRun(storage),
        await end(storage, await aLeasedRun(storage), { status: 'failed', error: '{}' }),
        await end(storage, await aLeasedRun(storage), { status: 'cancelled' }),
        await end(storage, await aLeasedRun(storage), { rollbackStatus: 'not-applicable' }),
      ];
      const parent = await aLeasedRun(storage);
      const reopen = [...idsOf(runs), 'wf_none'].map((runId) => ({ runId, dueAt: now }));
      assert.deepEqual(await storage.commitUnits([unitOf(parent, { reopen })]), ['committed']);
      for (const run of runs) assert.deepEqual(await mustGet(storage, run), run);
    },
  },
];

const resumeCases: readonly StorageCase[] = [
  {
    name: 'a failed run is taken over once: the new one has the entries and the key, and both name each other',
    async run(make) {
      const storage = await make();
      const failed = await aFailedRun(storage, 'order-1');
      const entries = [anEntry(1, { kind: 'taken-over', step: null, occurrence: null }), anEntry(2)];
      const given = aRun({ key: 'ignored', dueAt: now + 5 });
      const resumed = await storage.resumeRun({ from: failed.id, run: given, entries });
      assert.ok(resumed);
      assert.deepEqual(resumed, await mustGet(storage, given));
      assert.deepEqual(
        [resumed.status, resumed.key, resumed.dueAt, resumed.resumedFrom, resumed.resumedBy],
        ['pending', 'order-1', now + 5, failed.id, null],
      );
      assert.deepEqual(await mustGet(storage, failed), { ...failed, key: null, resumedBy: given.id });
      assert.equal((await storage.getRunByKey('mail', 'order-1'))?.id, given.id);
      assert.equal((await storage.enqueueRun(aRun({ key: 'order-1' }))).run.id, given.id);
      assert.deepEqual(await storage.readJournal(resumed.run, 0, 10), entries);

      const [claimed] = await claim(storage, { only: given.id, at: now + 5 });
      assert.ok(claimed);
      assert.deepEqual(await storage.commitUnits([unitOf(claimed, { entries: [anEntry(3)] })]), ['committed']);
      assert.equal(await storage.resumeRun({ from: failed.id, run: aRun(), entries: [] }), undefined, 'once only');
      await end(storage, claimed, { status: 'failed', error: '{}' });
      const third = await storage.resumeRun({ from: given.id, run: aRun(), entries: [] });
      assert.deepEqual([third?.key, third?.resumedFrom], ['order-1', given.id]);
    },
  },
  {
    name: 'a failed run is taken over with its failed and cancelled children, all of them or none',
    async run(make) {
      const storage = await make();
      const failed = await aFailedRun(storage, 'order-1');
      const place = (id: string, step: string) => ({ id, step, occurrence: '0' });
      const ended = async (step: string, status: 'failed' | 'cancelled' | 'completed') =>
        end(storage, await aLeasedRun(storage, { parent: place(failed.id, step) }), { status });
      const [ship, bill, mail] = [
        await ended('ship', 'failed'),
        await ended('bill', 'cancelled'),
        await ended('mail', 'completed'),
      ];
      const run = aRun();
      const heirOf = (child: RunRecord, entries = [anEntry(1)]) => ({
        from: child.id,
        run: aRun({ parent: place(run.id, child.parentStep ?? '') }),
        entries,
      });
      const entries = [anEntry(1)];
      assert.equal(
        await storage.resumeRun({ from: failed.id, run, entries, children: [heirOf(ship), heirOf(mail)] }),
        undefined,
      );
      await assert.rejects(
        storage.resumeRun({ from: failed.id, run, entries, children: [heirOf(ship), heirOf(bill, [anEntry(2)])] }),
        { code: 'RS_STORAGE_FAILED' },
      );
      assert.deepEqual(await mustGet(storage, failed), failed);
      assert.deepEqual(await storage.listChildren(run.id), []);

      const heirs = [heirOf(ship), heirOf(bill)];
      assert.ok(await storage.resumeRun({ from: failed.id, run, entries, children: heirs }));
      const children = await storage.listChildren(run.id);
      assert.deepEqual(
        children.map(({ id, resumedFrom, status }) => [id, resumedFrom, status]),
        heirs.map((heir) => [heir.run.id, heir.from, 'pending']),
      );
      assert.equal((await mustGet(storage, bill)).resumedBy, heirs[1]?.run.id);
      assert.deepEqual(await storage.readJournal(children[0]?.run ?? 0, 0, 10), entries);
    },
  },
  {
    name: 'of several who take a run over at once, one does',
    async run(make) {
      const storage = await make();
      const failed = await aFailedRun(storage, 'order-1');
      const results = await Promise.all(
        Array.from({ length: 10 }, () => storage.resumeRun({ from: failed.id, run: aRun(), entries: [anEntry(1)] })),
      );
      const [winner, ...others] = results.filter((result) => result !== undefined);
      assert.ok(winner);
      assert.deepEqual(others, []);
      assert.equal((await mustGet(storage, failed)).resumedBy, winner.id);
      assert.deepEqual(idsOf((await storage.listRuns({})).runs), [winner.id, failed.id]);
    },
  },
  {
    name: 'a run that has not failed, or does not exist, is not taken over',
    async run(make) {
      const storage = await make();
      const open = await aLeasedRun(storage, { key: 'k' });
      const completed = await end(storage, await aLeasedRun(storage));
      for (const id of [open.id, completed.id, 'wf_none']) {
        assert.equal(await storage.resumeRun({ from: id, run: aRun(), entries: [anEntry(1)] }), undefined);
      }
      assert.deepEqual(await mustGet(storage, open), open);
      assert.deepEqual(await mustGet(storage, completed), completed);
      assert.equal((await storage.listRuns({})).runs.length, 2);
    },
  },
  {
    name: 'a takeover that fails changes nothing, and can be asked for again',
    async run(make) {
      const storage = await make();
      const failed = await aFailedRun(storage, 'order-1');
      const code = 'RS_STORAGE_FAILED';
      await assert.rejects(storage.resumeRun({ from: failed.id, run: aRun({ id: failed.id }), entries: [] }), { code });
      await assert.rejects(storage.resumeRun({ from: failed.id, run: aRun(), entries: [anEntry(2)] }), { code });
      assert.deepEqual(await mustGet(storage, failed), failed);
      assert.equal((await storage.getRunByKey('mail', 'order-1'))?.id, failed.id);
      assert.equal((await storage.listRuns({})).runs.length, 1);
      assert.ok(await storage.resumeRun({ from: failed.id, run: aRun(), entries: [anEntry(1)] }));
    },
  },
];

export const relationCases: readonly StorageCase[] = [...childCases, ...postCases, ...reopenCases, ...resumeCases];
