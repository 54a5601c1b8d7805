import assert from 'node:assert/strict';
import type { Firing, FiringResult, NewSchedule, RunRecord, Storage } from '../../storage/index.js';
import { type StorageCase, aRun, claim, end, idsOf, mustGet, now } from './case.js';

const hour = 3_600_000;

function aSchedule(overrides: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: 'nightly',
    cadence: '{"cron":"0 3 * * *"}',
    timezone: 'Europe/Berlin',
    input: '{"full":true}',
    overlap: 'skip',
    nextAt: now + hour,
    ...overrides,
  };
}

function aFiring(at = now + hour, overrides: Partial<Firing> = {}): Firing {
  const id = overrides.id ?? 'nightly';
  const run = aRun({ key: `schedule:${id}:${at}`, createdAt: at, dueAt: at, scheduleId: id });
  return { workflow: 'mail', id, at, nextAt: at + hour, run, ...overrides };
}

function fired(result: FiringResult): RunRecord {
  return result.kind === 'fired' ? result.run : assert.fail(`the schedule fires, and is not ${result.kind}`);
}

async function theSchedule(storage: Storage) {
  const [schedule] = await storage.listSchedules(['mail']);
  return schedule ?? assert.fail('the schedule is there');
}

const kindOf = ({ kind }: FiringResult): string => kind;

export const scheduleCases: readonly StorageCase[] = [
  {
    name: 'schedules are listed as they were registered, by workflow and id, all or of some workflows',
    async run(make) {
      const storage = await make();
      const [b, a] = [aSchedule({ id: 'b', timezone: null, nextAt: null }), aSchedule({ id: 'a', overlap: 'allow' })];
      await storage.registerSchedules('post', 2, [aSchedule({ id: 'c' })], now);
      await storage.registerSchedules('mail', 1, [b, a], now + 1);
      const common = { workflow: 'mail', revision: 1, anchorAt: now + 1, paused: false };
      assert.deepEqual(await storage.listSchedules(['mail', 'none']), [
        { ...a, ...common },
        { ...b, ...common },
      ]);
      assert.deepEqual(idsOf(await storage.listSchedules()), ['a', 'b', 'c']);
      assert.deepEqual(await storage.listSchedules([]), []);
    },
  },
  {
    name: 'registered again a schedule keeps time, anchor and pause, and takes over input, overlap and revision',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule()], now);
      await storage.pauseSchedule('mail', 'nightly', true);
      const changed = { input: '{}', overlap: 'queue', nextAt: now + 5 * hour } as const;
      await storage.registerSchedules('mail', 2, [aSchedule(changed)], now + hour);
      assert.deepEqual(await theSchedule(storage), {
        ...aSchedule({ ...changed, nextAt: now + hour }),
        workflow: 'mail',
        revision: 2,
        anchorAt: now,
        paused: true,
      });
    },
  },
  {
    name: 'another cadence or zone, and no zone any more, gives a schedule the new time and a new anchor',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule()], now);
      const changes = [{ cadence: '{"everyMs":5}' }, { timezone: 'Asia/Tokyo' }, { timezone: null }];
      for (const [index, change] of changes.entries()) {
        const nextAt = now + 2 * hour + index;
        await storage.registerSchedules('mail', 1, [aSchedule({ ...change, nextAt })], now + 1 + index);
        const { nextAt: kept, anchorAt, cadence, timezone } = await theSchedule(storage);
        assert.deepEqual([kept, anchorAt], [nextAt, now + 1 + index]);
        assert.deepEqual({ cadence, timezone }, { cadence: aSchedule().cadence, timezone: 'Europe/Berlin', ...change });
      }
    },
  },
  {
    name: 'a lower revision is not heard, also after a higher one that has no schedules; what is left out goes',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 2, [aSchedule({ id: 'a' }), aSchedule({ id: 'b' })], now);
      await storage.registerSchedules('mail', 1, [aSchedule({ id: 'c' })], now);
      assert.deepEqual(idsOf(await storage.listSchedules()), ['a', 'b']);
      await storage.registerSchedules('mail', 2, [aSchedule({ id: 'b' })], now);
      assert.deepEqual(idsOf(await storage.listSchedules()), ['b']);
      await storage.registerSchedules('mail', 3, [], now);
      await storage.registerSchedules('mail', 2, [aSchedule({ id: 'b' })], now);
      assert.deepEqual(await storage.listSchedules(), []);
      await storage.registerSchedules('mail', 3, [aSchedule({ id: 'b' })], now + 7);
      assert.deepEqual([(await theSchedule(storage)).anchorAt, (await theSchedule(storage)).paused], [now + 7, false]);
    },
  },
  {
    name: 'a firing inserts the run and moves the schedule on; the same one again is lost',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule({ overlap: 'allow' })], now);
      const firing = aFiring();
      const run = fired(await storage.fireSchedule(firing));
      assert.deepEqual(
        [run.id, run.scheduleId, run.status, run.key],
        [firing.run.id, 'nightly', 'pending', firing.run.key],
      );
      assert.deepEqual(await mustGet(storage, run), run);
      assert.equal((await theSchedule(storage)).nextAt, now + 2 * hour);
      assert.deepEqual(await storage.fireSchedule(aFiring()), { kind: 'lost' });
      assert.deepEqual(await storage.fireSchedule(aFiring(now + hour, { id: 'none' })), { kind: 'lost' });
      assert.equal(fired(await storage.fireSchedule(aFiring(now + 2 * hour, { nextAt: null }))).status, 'pending');
      assert.equal((await theSchedule(storage)).nextAt, null);
    },
  },
  {
    name: '`skip` fires nothing while a run of the schedule is not terminal, and moves on all the same',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule(), aSchedule({ id: 'other' })], now);
      fired(await storage.fireSchedule(aFiring()));
      assert.deepEqual(await storage.fireSchedule(aFiring(now + 2 * hour)), { kind: 'skipped' });
      assert.equal((await theSchedule(storage)).nextAt, now + 3 * hour);
      fired(await storage.fireSchedule(aFiring(now + hour, { id: 'other' })));

      const at = now + 3 * hour;
      const [first] = await claim(storage, { at, limit: 1 });
      assert.deepEqual(kindOf(await storage.fireSchedule(aFiring(at))), 'skipped', 'also while it runs');
      await end(storage, first ?? assert.fail());
      fired(await storage.fireSchedule(aFiring(now + 4 * hour)));
    },
  },
  {
    name: '`queue` lets one run wait; `allow` any number',
    async run(make) {
      const storage = await make();
      const schedules = [aSchedule({ overlap: 'queue' }), aSchedule({ id: 'all', overlap: 'allow' })];
      await storage.registerSchedules('mail', 1, schedules, now);
      const results: string[] = [];
      for (let index = 1; index <= 4; index += 1) {
        results.push(kindOf(await storage.fireSchedule(aFiring(now + index * hour))));
        // From the second firing on the first run is driven.
        if (index === 1) await claim(storage, { at: now + hour });
      }
      assert.deepEqual(results, ['fired', 'fired', 'skipped', 'skipped']);
      for (let index = 1; index <= 3; index += 1) {
        fired(await storage.fireSchedule(aFiring(now + index * hour, { id: 'all' })));
      }
    },
  },
  {
    name: 'a schedule of a newer revision is not fired with a run of an older one',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 2, [aSchedule()], now);
      assert.deepEqual(await storage.fireSchedule(aFiring()), { kind: 'lost' });
      assert.equal((await theSchedule(storage)).nextAt, now + hour);
      const firing = aFiring();
      fired(await storage.fireSchedule({ ...firing, run: { ...firing.run, revision: 2 } }));
    },
  },
  {
    name: 'a firing whose key is taken inserts nothing and moves on; one that fails changes nothing',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule({ overlap: 'allow' })], now);
      const { run: taken } = await storage.enqueueRun(aRun({ key: `schedule:nightly:${now + hour}` }));
      assert.deepEqual(await storage.fireSchedule(aFiring()), { kind: 'skipped' });
      const firing = aFiring(now + 2 * hour);
      await assert.rejects(storage.fireSchedule({ ...firing, run: { ...firing.run, id: taken.id } }), {
        name: 'RunsheetError',
      });
      assert.equal((await theSchedule(storage)).nextAt, now + 2 * hour);
      fired(await storage.fireSchedule(firing));
    },
  },
  {
    name: 'a paused schedule does not fire, and goes on from the time it is given',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule()], now);
      assert.equal(await storage.pauseSchedule('mail', 'nightly', true), true);
      assert.equal(await storage.pauseSchedule('mail', 'none', true), false);
      assert.equal(await storage.pauseSchedule('post', 'nightly', false, 5), false);
      assert.deepEqual([(await theSchedule(storage)).paused, (await theSchedule(storage)).nextAt], [true, now + hour]);
      assert.deepEqual(await storage.fireSchedule(aFiring()), { kind: 'lost' });
      await storage.pauseSchedule('mail', 'nightly', false, now + 9 * hour);
      assert.deepEqual(
        [(await theSchedule(storage)).paused, (await theSchedule(storage)).nextAt],
        [false, now + 9 * hour],
      );
      fired(await storage.fireSchedule(aFiring(now + 9 * hour)));
    },
  },
  {
    name: 'several engines that fire the same time at once make one run',
    async run(make) {
      const storage = await make();
      await storage.registerSchedules('mail', 1, [aSchedule({ overlap: 'allow' })], now);
      const results = await Promise.all(Array.from({ length: 12 }, () => storage.fireSchedule(aFiring())));
      assert.equal(results.filter(({ kind }) => kind === 'fired').length, 1);
      assert.equal(results.filter(({ kind }) => kind === 'lost').length, 11);
    },
  },
  {
    name: 'engines over several storages fire each of twenty times once, while others register anew',
    needs: 'shared',
    async run(make) {
      const storages = [await make(), await make(), await make()];
      const schedule = aSchedule({ overlap: 'allow' });
      const rounds = 20;
      await storages[0]?.registerSchedules('mail', 1, [schedule], now);
      await Promise.all(
        storages.map(async (storage, index) => {
          for (let round = 1; round <= rounds; round += 1) {
            const again = index === 1 ? storage.registerSchedules('mail', 1, [schedule], now + round) : undefined;
            await Promise.all([storage.fireSchedule(aFiring(now + round * hour)), again]);
            // Whoever is ahead waits for the others in the database, not here.
            while ((await theSchedule(storage)).nextAt === now + round * hour) continue;
          }
        }),
      );
      for (const storage of storages) {
        const { runs } = await storage.listRuns({});
        assert.equal(runs.length, rounds);
        assert.equal((await theSchedule(storage)).nextAt, now + (rounds + 1) * hour);
      }
    },
  },
];
