import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, anEntry, claim, idsOf, leaseMs, mustGet, now, unitOf } from './case.js';

export const claimCases: readonly StorageCase[] = [
  {
    name: 'a claim leases the run: owner, epoch, expiry, state, first start',
    async run(make) {
      const storage = await make();
      const { run } = await storage.enqueueRun(aRun());
      const claimed = await claim(storage, { at: now + 1 });
      assert.deepEqual(claimed, [
        {
          ...run,
          status: 'running',
          owner: 'engine-a',
          epoch: 1,
          startedAt: now + 1,
          dueAt: now + 1 + leaseMs,
          leaseExpiresAt: now + 1 + leaseMs,
        },
      ]);
      assert.deepEqual(await storage.getRun(run.id), claimed[0]);
      assert.deepEqual(await claim(storage, { owner: 'engine-b', at: now + 2 }), []);
    },
  },
  {
    name: 'a claim asked for after a run is enqueued, but before that is answered, takes it',
    async run(make) {
      const storage = await make();
      const enqueued = storage.enqueueRun(aRun());
      const claimed = await claim(storage);
      assert.deepEqual(idsOf(claimed), [(await enqueued).run.id]);
    },
  },
  {
    name: 'only what is due (inclusive) and of a given definition is claimed',
    async run(make) {
      const storage = await make();
      const { run: due } = await storage.enqueueRun(aRun());
      await storage.enqueueRun(aRun({ dueAt: now + 1 }));
      await storage.enqueueRun(aRun({ definitionHash: 'hash-mail-2', revision: 2 }));
      assert.deepEqual(await claim(storage, { hashes: [] }), []);
      assert.deepEqual(idsOf(await claim(storage)), [due.id]);
    },
  },
  {
    name: 'oldest due first over all definitions, then by insertion; woken, new and expired stand in one order',
    async run(make) {
      const storage = await make();
      const expired = await aLeasedRun(storage, { dueAt: now - leaseMs - 5 });
      const woken = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(woken, { transition: { kind: 'park', status: 'sleeping', dueAt: now - 3 } })]);
      const { run: oldest } = await storage.enqueueRun(
        aRun({ dueAt: now - 9, workflow: 'post', definitionHash: 'hash-post-1' }),
      );
      const { run: tie1 } = await storage.enqueueRun(aRun({ dueAt: now - 1 }));
      const { run: tie2 } = await storage.enqueueRun(
        aRun({ dueAt: now - 1, workflow: 'post', definitionHash: 'hash-post-1' }),
      );
      const { run: tie3 } = await storage.enqueueRun(aRun({ dueAt: now - 1 }));
      const hashes = ['hash-mail-1', 'hash-post-1'];
      const first = await claim(storage, { owner: 'engine-b', hashes, limit: 4 });
      const second = await claim(storage, { owner: 'engine-b', hashes, limit: 4 });
      assert.deepEqual(idsOf(first), [expired.id, oldest.id, woken.id, tie1.id]);
      assert.deepEqual(idsOf(second), [tie2.id, tie3.id]);
    },
  },
  {
    name: 'claims at the same time never take a run twice',
    async run(make) {
      const storage = await make();
      await Promise.all(Array.from({ length: 60 }, () => storage.enqueueRun(aRun())));
      const claims = await Promise.all(
        Array.from({ length: 30 }, (_, index) => claim(storage, { owner: `engine-${index % 3}`, limit: 3 })),
      );
      const claimed = idsOf(claims.flat());
      assert.equal(claimed.length, 60);
      assert.equal(new Set(claimed).size, 60);
    },
  },
  {
    name: '`only` takes that run, if it is due and of a given definition, and leaves older ones',
    async run(make) {
      const storage = await make();
      await storage.enqueueRun(aRun({ dueAt: now - 10 }));
      const { run: wanted } = await storage.enqueueRun(aRun());
      const { run: later } = await storage.enqueueRun(aRun({ dueAt: now + 1 }));
      assert.deepEqual(await claim(storage, { only: later.id }), []);
      assert.deepEqual(await claim(storage, { only: wanted.id, hashes: ['hash-other'] }), []);
      assert.deepEqual(await claim(storage, { only: 'wf_none' }), []);
      assert.deepEqual(idsOf(await claim(storage, { only: wanted.id })), [wanted.id]);
      assert.deepEqual(await claim(storage, { only: wanted.id }), []);
    },
  },
  {
    name: 'an expired lease is taken over, and its old owner can neither write, renew nor release',
    async run(make) {
      const storage = await make();
      const old = await aLeasedRun(storage);
      const at = now + leaseMs;
      assert.deepEqual(await claim(storage, { owner: 'engine-b', at: at - 1 }), []);
      const [taken] = await claim(storage, { owner: 'engine-b', at });
      assert.equal(taken?.epoch, 2);
      assert.equal(taken.startedAt, now, 'the first start stays');
      assert.deepEqual(await storage.commitUnits([unitOf(old, { entries: [anEntry(1)] })]), ['lease-lost']);
      assert.deepEqual(await storage.renewLeases('engine-a', [old], at + leaseMs, at), [old.run]);
      await storage.releaseRuns('engine-a', [old], at);
      assert.deepEqual(await mustGet(storage, old), taken);
      assert.deepEqual(await storage.readJournal(old.run, 0, 10), []);
    },
  },
  {
    name: 'an owner that claims its own run again is fenced from its earlier epoch',
    async run(make) {
      const storage = await make();
      const before = await aLeasedRun(storage);
      const [after] = await claim(storage, { at: now + leaseMs });
      assert.ok(after);
      assert.deepEqual(
        await storage.commitUnits([
          unitOf(before, { entries: [anEntry(1, { payload: '"old"' })] }),
          unitOf(after, { entries: [anEntry(1, { payload: '"new"' })] }),
        ]),
        ['lease-lost', 'committed'],
      );
      assert.equal((await storage.readJournal(after.run, 0, 10))[0]?.payload, '"new"');
    },
  },
  {
    name: 'leases are renewed many at a time; the lost ones are named, the others are held',
    async run(make) {
      const storage = await make();
      const mine = await aLeasedRun(storage);
      const others = await aLeasedRun(storage, {}, 'engine-b');
      const { run: unleased } = await storage.enqueueRun(aRun({ dueAt: now + 1 }));
      const until = now + 2 * leaseMs;
      const lost = await storage.renewLeases(
        'engine-a',
        [mine, others, unleased, { run: mine.run, epoch: mine.epoch + 1 }, { run: 99_999, epoch: 1 }],
        until,
        now,
      );
      assert.deepEqual(lost, [others.run, unleased.run, mine.run, 99_999]);
      const renewed = await mustGet(storage, mine);
      assert.deepEqual([renewed.leaseExpiresAt, renewed.dueAt, renewed.epoch], [until, until, mine.epoch]);
      assert.deepEqual(await mustGet(storage, others), others);
      assert.deepEqual(await claim(storage, { owner: 'engine-c', only: mine.id, at: until - 1 }), []);
    },
  },
  {
    name: 'what has begun keeps its place in the order: handed back, or with an expired lease',
    async run(make) {
      const storage = await make();
      const handedBack = await aLeasedRun(storage, { dueAt: now - 20 });
      const expired = await aLeasedRun(storage, { dueAt: now - 10 });
      const { run: fresh } = await storage.enqueueRun(aRun({ dueAt: now }));
      const at = now + leaseMs;
      await storage.releaseRuns('engine-a', [handedBack], at - 5);
      assert.equal((await mustGet(storage, handedBack)).dueAt, now - 20);
      assert.deepEqual(idsOf(await claim(storage, { owner: 'engine-b', at })), idsOf([handedBack, expired, fresh]));
      // Also when it happens a second time.
      const again = await mustGet(storage, handedBack);
      await storage.releaseRuns('engine-b', [again], at + 5);
      assert.equal((await mustGet(storage, handedBack)).dueAt, now - 20);
    },
  },
  {
    name: 'a run that is handed back is due at once',
    async run(make) {
      const storage = await make();
      const leased = await aLeasedRun(storage);
      await storage.releaseRuns('engine-a', [leased], now + 5);
      const released = await mustGet(storage, leased);
      assert.deepEqual(
        [released.owner, released.leaseExpiresAt, released.dueAt, released.status, released.epoch],
        [null, null, now, 'running', 1],
      );
      assert.deepEqual(await storage.commitUnits([unitOf(leased, { entries: [anEntry(1)] })]), ['lease-lost']);
      const [again] = await claim(storage, { owner: 'engine-b', at: now + 5 });
      assert.equal(again?.epoch, 2);
    },
  },
  {
    name: 'a limited workflow is claimed up to its limit, over owners and revisions; others are not held back',
    async run(make) {
      const storage = await make();
      await storage.setWorkflowLimit('mail', 2, 2);
      const hashes = ['hash-mail-1', 'hash-mail-2', 'hash-post-1'];
      const first = await aLeasedRun(storage);
      for (let index = 0; index < 3; index += 1) {
        await storage.enqueueRun(aRun({ dueAt: now - 9 }));
        await storage.enqueueRun(aRun({ dueAt: now - 9, revision: 2, definitionHash: 'hash-mail-2' }));
      }
      const { run: post } = await storage.enqueueRun(aRun({ workflow: 'post', definitionHash: 'hash-post-1' }));
      const claimed = await claim(storage, { owner: 'engine-b', hashes });
      assert.deepEqual(
        claimed.map(({ workflow }) => workflow),
        ['mail', 'post'],
      );
      assert.equal(claimed[1]?.id, post.id);
      assert.deepEqual(await claim(storage, { owner: 'engine-c', hashes }), []);
      await storage.setWorkflowLimit('mail', 2, 3);
      assert.equal((await claim(storage, { owner: 'engine-c', hashes })).length, 1);
      await storage.setWorkflowLimit('mail', 3, 2);

      await storage.commitUnits([unitOf(first, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      assert.deepEqual(await claim(storage, { owner: 'engine-c', hashes }), [], 'still two in their places');
    },
  },
  {
    name: 'the limit is that of the highest revision that said something, also that there is none',
    async run(make) {
      const storage = await make();
      for (let index = 0; index < 12; index += 1) await storage.enqueueRun(aRun());
      const claimed = async () => (await claim(storage, { limit: 2 })).length;
      await storage.setWorkflowLimit('post', 9, 0);
      await storage.setWorkflowLimit('mail', 2, 1);
      await storage.setWorkflowLimit('mail', 1, 5);
      assert.equal(await claimed(), 1);
      await storage.setWorkflowLimit('mail', 2, 2);
      assert.equal(await claimed(), 1, 'the same revision again');
      await storage.setWorkflowLimit('mail', 3, null);
      await storage.setWorkflowLimit('mail', 2, 2);
      assert.deepEqual([await claimed(), await claimed()], [2, 2]);
      await storage.setWorkflowLimit('mail', 4, 3);
      assert.equal(await claimed(), 0, 'more are leased than a new limit allows');
    },
  },
  {
    name: 'a place is free again when the run is parked, ended, handed back, or its lease has expired',
    async run(make) {
      const storage = await make();
      await storage.setWorkflowLimit('mail', 1, 1);
      for (let index = 0; index < 6; index += 1) await storage.enqueueRun(aRun({ dueAt: now - 100 + index }));
      const next = async (at = now) => {
        const claimed = await claim(storage, { at });
        assert.deepEqual(await claim(storage, { at }), [], 'one place only');
        assert.equal(claimed.length, 1);
        return claimed[0] ?? assert.fail();
      };
      await storage.commitUnits([
        unitOf(await next(), { transition: { kind: 'park', status: 'sleeping', dueAt: now + 9e6 } }),
      ]);
      await storage.commitUnits([
        unitOf(await next(), {
          transition: {
            kind: 'end',
            status: 'cancelled',
            output: null,
            error: null,
            rollbackStatus: null,
            endedAt: now,
          },
        }),
      ]);
      const third = await next();
      await storage.releaseRuns('engine-a', [third], now + 9e6);
      const fourth = await next();
      const fifth = await next(now + leaseMs);
      assert.equal(fifth.id, fourth.id, 'it keeps its place where its lease has expired');
    },
  },
  {
    name: 'an unwinding run stays compensating when it is claimed, parked or stuck before',
    async run(make) {
      const storage = await make();
      for (const status of ['compensating', 'compensation-stuck'] as const) {
        const run = await aLeasedRun(storage);
        await storage.commitUnits([
          unitOf(run, { transition: { kind: 'park', status, dueAt: now, rollbackStatus: 'owed' } }),
        ]);
        const [claimed] = await claim(storage, { only: run.id });
        assert.deepEqual([claimed?.status, claimed?.rollbackStatus], ['compensating', 'owed']);
      }
    },
  },
  {
    name: 'a claim whose lease would have expired already is refused',
    async run(make) {
      const storage = await make();
      const claimed = storage.claimRuns({
        owner: 'engine-a',
        hashes: ['h'],
        limit: 1,
        now,
        leaseExpiresAt: now,
        alone: false,
      });
      await assert.rejects(claimed, { code: 'RS_OPTIONS_INVALID' });
    },
  },
];
