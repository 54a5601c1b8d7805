import assert from 'node:assert/strict';
import type { InboxView, Storage } from '../../storage/index.js';
import {
  type StorageCase,
  aLeasedRun,
  aPost,
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

/** Resolves when `storage` reports a change by others. */
function foreignChange(storage: Storage): Promise<void> {
  return new Promise((resolve) => {
    const end = storage.onForeignChange(() => {
      end();
      resolve();
    });
  });
}

/** Resolves when `storage` reports that an engine has died. */
function engineDeath(storage: Storage): Promise<void> {
  return new Promise((resolve) => {
    const end = storage.onEngineDeath(() => {
      end();
      resolve();
    });
  });
}

export const severalCases: readonly StorageCase[] = [
  {
    name: 'engines on one storage object are told of each other’s news; a single engine is not told of its own',
    async run(make) {
      const storage = await make();
      let told = 0;
      const end = storage.onForeignChange(() => (told += 1));
      await storage.registerEngine('engine-a');
      await storage.enqueueRun(aRun());
      assert.equal(told, 0);
      await storage.registerEngine('engine-b');
      const change = foreignChange(storage);
      await storage.enqueueRun(aRun());
      await change;
      assert.ok(told > 0);
      end();
      const before = told;
      const another = foreignChange(storage);
      await storage.enqueueRun(aRun());
      await another;
      assert.equal(told, before, 'one who has left is not told');
    },
  },
  {
    name: 'what one storage writes the other sees, and is told of',
    needs: 'shared',
    async run(make) {
      const [a, b] = [await make(), await make()];
      const change = foreignChange(b);
      const { run } = await a.enqueueRun(aRun({ key: 'k' }));
      await change;
      assert.deepEqual(await b.getRun(run.id), run);
      const again = await b.enqueueRun(aRun({ key: 'k' }));
      assert.deepEqual([again.created, again.run.id], [false, run.id]);
    },
  },
  {
    name: 'two storages never claim a run twice, nor pass a limit together',
    needs: 'shared',
    async run(make) {
      const [a, b] = [await make(), await make()];
      await Promise.all(Array.from({ length: 60 }, () => a.enqueueRun(aRun())));
      const claims = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          claim(index % 2 === 0 ? a : b, { owner: index % 2 === 0 ? 'engine-a' : 'engine-b', limit: 2 }),
        ),
      );
      const claimed = idsOf(claims.flat());
      assert.equal(claimed.length, 60);
      assert.equal(new Set(claimed).size, 60);

      const post = { workflow: 'post', definitionHash: 'hash-post-1' };
      await Promise.all(Array.from({ length: 20 }, () => a.enqueueRun(aRun(post))));
      await b.setWorkflowLimit('post', 1, 3);
      const limited = await Promise.all(
        [a, b, a, b].map((storage, index) => claim(storage, { owner: `engine-${index}`, hashes: ['hash-post-1'] })),
      );
      assert.equal(limited.flat().length, 3);
    },
  },
  {
    name: 'a limit holds in every moment, however many storages claim, park, end and hand back at once',
    needs: 'shared',
    async run(make) {
      const storages = [await make(), await make(), await make()];
      const runs = 60;
      const limit = 3;
      const [first = assert.fail()] = storages;
      await first.setWorkflowLimit('mail', 1, limit);
      await Promise.all(Array.from({ length: runs }, () => first.enqueueRun(aRun())));
      let most = 0;
      await Promise.all(
        storages.map(async (storage, index) => {
          const owner = `engine-${index}`;
          for (let round = 0; ; round += 1) {
            const claimed = await claim(storage, { owner, limit: 2 });
            const leased = (await storage.listRuns({ limit: runs })).runs.filter((run) => run.owner !== null);
            most = Math.max(most, leased.length);
            const back = round % 3 === 0 ? 1 : 0;
            const others = claimed.slice(back);
            await storage.releaseRuns(owner, claimed.slice(0, back), now);
            const park = { kind: 'park', status: 'waiting', dueAt: null } as const;
            const ends = others.map((run) => unitOf(run, { transition: run.run % 2 === 0 ? park : anEnd() }));
            await storage.commitUnits(ends);
            if (claimed.length === 0 && leased.length === 0) return;
          }
        }),
      );
      assert.equal(most, limit, 'reached, and never passed');
      const { runs: left } = await first.listRuns({ limit: runs, statuses: ['pending', 'running'] });
      assert.deepEqual(left, []);
    },
  },
  {
    name: 'units after a takeover by the other storage are refused',
    needs: 'shared',
    async run(make) {
      const [a, b] = [await make(), await make()];
      const old = await aLeasedRun(a);
      await a.commitUnits([unitOf(old, { entries: [anEntry(1)] })]);
      const [taken] = await claim(b, { owner: 'engine-b', at: now + leaseMs });
      assert.ok(taken);
      const [late, next] = await Promise.all([
        a.commitUnits([unitOf(old, { entries: [anEntry(2, { payload: '"late"' })] })]),
        b.commitUnits([unitOf(taken, { entries: [anEntry(2, { payload: '"next"' })] })]),
      ]);
      assert.deepEqual([late, next], [['lease-lost'], ['committed']]);
      assert.equal((await a.readJournal(old.run, 1, 10))[0]?.payload, '"next"');
    },
  },
  {
    name: 'under load from both sides every unit is committed once, in order',
    needs: 'shared',
    async run(make) {
      const storages = [await make(), await make()];
      const perRun = 40;
      await Promise.all(
        storages.flatMap((storage, index) =>
          Array.from({ length: 10 }, async () => {
            const run = await aLeasedRun(storage, {}, `engine-${index}`);
            for (let seq = 1; seq <= perRun; seq += 1) {
              const results = await storage.commitUnits([unitOf(run, { entries: [anEntry(seq)] })]);
              assert.deepEqual(results, ['committed']);
            }
            const other = storages[1 - index] ?? storage;
            assert.equal((await other.readJournal(run.run, 0, 100)).length, perRun);
          }),
        ),
      );
    },
  },
  {
    name: 'a message from the other storage, and one that comes with a unit of its own, is told to the driver’s',
    needs: 'shared',
    async run(make) {
      const [driver, other] = [await make(), await make()];
      const run = await aLeasedRun(driver);
      const sender = await aLeasedRun(other, {}, 'engine-b');
      const message = { kind: 'signal', name: 'approved', payload: null, at: now + 1 };
      const first = foreignChange(driver);
      await other.postInbox(run.id, aPost(message));
      await first;
      assert.equal((await driver.readInbox(run.run, 0)).length, 1);
      const second = foreignChange(driver);
      await other.commitUnits([unitOf(sender, { posts: [{ runId: run.id, message }] })]);
      await second;
      assert.equal((await driver.readInbox(run.run, 1)).length, 1);
    },
  },
  {
    name: 'a signal and a verdict against it, from two sides: in each of 300 rounds one wins, and both sides agree',
    needs: 'shared',
    async run(make) {
      const [driver, sender] = [await make(), await make()];
      const wins = { signal: 0, verdict: 0 };
      const verdict = anEntry(1, { kind: 'timer-fired', step: 'gate' });
      const tooLate = {
        steps: ['gate'],
        refuse: ({ entries }: InboxView) => (entries.length > 0 ? ('too-late' as const) : undefined),
      };
      const signal = { kind: 'signal', name: 'approved', payload: null, now: () => now + 1 };
      for (let round = 0; round < 300; round += 1) {
        // Each run stands at a gate; every third ends by its verdict.
        const run = await aLeasedRun(driver);
        const ends = round % 3 === 0;
        const unit = unitOf(run, { entries: [verdict], inboxSeq: 0, ...(ends ? { transition: anEnd() } : {}) });
        const ask = {
          verdict: () => driver.commitUnits([unit], { alone: round % 5 === 0 }),
          signal: () => sender.postInbox(run.id, { ...signal, guard: tooLate }),
        };
        const early = round % 2 === 0 ? undefined : ask.signal();
        const [[result], { kind }] = await Promise.all([ask.verdict(), early ?? ask.signal()]);
        const outcome = [result, kind];
        const signalWon = result === 'inbox-changed';
        assert.deepEqual(
          outcome,
          signalWon ? ['inbox-changed', 'posted'] : ['committed', ends ? 'ended' : 'refused'],
          `round ${round}`,
        );
        wins[signalWon ? 'signal' : 'verdict'] += 1;
        for (const side of [driver, sender]) {
          assert.equal((await side.readInbox(run.run, 0)).length, signalWon ? 1 : 0);
          assert.deepEqual(await side.readEntries(run.run, ['gate']), signalWon ? [] : [verdict]);
          assert.equal((await mustGet(side, run)).inboxSeq, signalWon ? 1 : 0);
        }
      }
      assert.ok(wins.signal > 0 && wins.verdict > 0, JSON.stringify(wins));
    },
  },
  {
    name: 'a closed storage’s engine is proved dead at once: its runs are due, and nobody else’s',
    needs: 'provesDeath',
    async run(make) {
      const [a, b, c] = [await make(), await make(), await make()];
      await a.registerEngine('engine-a');
      await b.registerEngine('engine-b');
      const dead = await aLeasedRun(a, {}, 'engine-a');
      const alive = await aLeasedRun(b, {}, 'engine-b');
      assert.deepEqual(await b.releaseDeadEngines(now + 5), [], 'both live');
      await a.close();
      const released = await Promise.all([b.releaseDeadEngines(now + 5), c.releaseDeadEngines(now + 5)]);
      assert.deepEqual(released.flat(), [{ id: dead.id, status: 'running' }], 'once, whoever does it');
      const record = await mustGet(b, dead);
      assert.deepEqual(
        [record.owner, record.leaseExpiresAt, record.dueAt, record.epoch],
        [null, null, now, dead.epoch],
      );
      assert.deepEqual(await c.commitUnits([unitOf(dead, { entries: [anEntry(1)] })]), ['lease-lost']);
      assert.deepEqual(await mustGet(b, alive), alive);
      assert.deepEqual(await b.releaseDeadEngines(now + 6), []);
    },
  },
  {
    name: 'the death of an engine is told of, as long as nobody has released what it held',
    needs: 'provesDeath',
    async run(make) {
      const [a, b] = [await make(), await make()];
      await a.registerEngine('engine-a');
      await b.registerEngine('engine-b');
      const dead = await aLeasedRun(a, {}, 'engine-a');
      const death = engineDeath(b);
      await a.close();
      await death;
      await engineDeath(b);
      assert.deepEqual(await b.releaseDeadEngines(now), [{ id: dead.id, status: 'running' }]);
    },
  },
  {
    name: 'an engine that went in order leaves nothing to prove; what it still holds is left to expire',
    needs: 'provesDeath',
    async run(make) {
      const [a, b] = [await make(), await make()];
      await a.registerEngine('engine-a');
      const held = await aLeasedRun(a, {}, 'engine-a');
      await a.unregisterEngine('engine-a');
      assert.deepEqual(await b.releaseDeadEngines(now), []);
      assert.deepEqual(await mustGet(b, held), held);
    },
  },
];
