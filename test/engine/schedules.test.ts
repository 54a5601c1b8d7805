import { describe, expect, it } from 'vitest';
import { World, codeOf } from '../support/world.js';

const hour = 3_600_000;
const flow = (schedule: string, steps = '[{ step: note, with: { n: =$input.n } }]'): string => `
workflow: flow
schedule: ${schedule}
input: { n: { type: integer, default: 0 } }
steps: ${steps}
`;
const note = { note: () => null };

async function started(world: World): Promise<World> {
  await world.engine.start();
  return world;
}

describe('a schedule', () => {
  it('starts a run at each of its times, with its input', async () => {
    const world = await started(new World(flow('[{ every: 1h, input: { n: 7 } }]'), note));
    await world.pass(3.5 * hour);
    expect(world.calls.map(({ input }) => input)).toEqual([{ n: 7 }, { n: 7 }, { n: 7 }]);
    const { runs } = await world.engine.listRuns();
    expect(runs.map(({ key }) => key)).toContain(`schedule:0:${Date.UTC(2030, 0, 1, 1)}`);
    await world.engine.stop();
  });

  it('follows cron in its zone', async () => {
    const world = await started(new World(flow('[{ cron: "0 9 * * *", timezone: Europe/Berlin }]'), note));
    await world.pass(8 * hour - 1000);
    expect(world.calls).toHaveLength(0);
    await world.pass(2000);
    expect(world.calls).toHaveLength(1);
    await world.engine.stop();
  });

  it('fires once over all engines', async () => {
    const one = await started(new World(flow('[{ every: 1h }]'), note));
    const two = await started(new World(flow('[{ every: 1h }]'), note, { storage: one.storage, clock: one.clock }));
    await one.pass(5.5 * hour);
    expect(one.calls.length + two.calls.length).toBe(5);
    await Promise.all([one.engine.stop(), two.engine.stop()]);
  });

  it('that was missed fires once, and goes on from there', async () => {
    const before = await started(new World(flow('[{ every: 1h }]'), note));
    await before.pass(1);
    await before.engine.stop();
    await before.pass(3.5 * hour);
    const after = await started(
      new World(flow('[{ every: 1h }]'), note, { storage: before.storage, clock: before.clock }),
    );
    await before.pass(1000);
    expect(after.calls).toHaveLength(1);
    await before.pass(hour);
    expect(after.calls).toHaveLength(2);
    await after.engine.stop();
  });

  it('is not put off by deployments that are more frequent than its interval', async () => {
    let world = await started(new World(flow('[{ every: 1h }]'), note));
    const { storage, clock } = world;
    let calls = 0;
    for (let deployment = 0; deployment < 12; deployment += 1) {
      await world.pass(hour / 4);
      await world.engine.stop();
      calls += world.calls.length;
      world = await started(new World(flow('[{ every: 1h }]'), note, { storage, clock }));
    }
    await world.pass(1000);
    await world.engine.stop();
    expect(calls + world.calls.length).toBe(3);
  });

  it.each([
    ['skip', 1],
    ['queue', 2],
    ['allow', 4],
  ])('with overlap: %s', async (overlap, expected) => {
    const slow = flow(`[{ every: 1h, overlap: ${overlap} }]`, '[{ step: slow, timeout: never }]');
    const world = await started(new World(slow, { slow: () => new Promise(() => {}) }, { concurrency: 1 }));
    await world.pass(4.5 * hour);
    expect((await world.engine.listRuns()).runs).toHaveLength(expected);
  });

  it('can be paused and goes on, without making up for what was missed', async () => {
    const world = await started(new World(flow('[{ id: hourly, every: 1h }]'), note));
    await world.pass(1.5 * hour);
    await world.engine.pauseSchedule('flow', 'hourly');
    await world.pass(10 * hour);
    expect(world.calls).toHaveLength(1);
    await world.engine.resumeSchedule('flow', 'hourly');
    await world.pass(hour);
    expect(world.calls).toHaveLength(2);
    expect(await codeOf(world.engine.pauseSchedule('flow', 'daily'))).toBe('RS_SCHEDULE_UNKNOWN');
    await world.engine.stop();
  });

  it('tells its next times, and can be triggered', async () => {
    const world = await started(new World(flow('[{ id: hourly, every: 1h }]'), note));
    const [schedule] = await world.engine.listSchedules({ count: 3 });
    expect(schedule).toMatchObject({ workflow: 'flow', id: 'hourly', paused: false });
    expect(schedule?.nextTimes).toEqual([1, 2, 3].map((n) => Date.UTC(2030, 0, 1, n)));
    await world.engine.triggerSchedule('flow', 'hourly');
    await world.pass(1000);
    expect(world.calls).toHaveLength(1);
    await world.engine.stop();
  });

  it('of a newer revision is left to the engines that have it', async () => {
    const old = await started(new World(flow('[{ every: 1h, input: { n: 1 } }]'), note));
    const newer = flow('[{ every: 1h, input: { n: 2 } }]').replace('workflow: flow', 'workflow: flow\nrevision: 2');
    const other = new World(newer, note, { storage: old.storage, clock: old.clock });
    await other.engine.listRuns();
    await old.pass(2.5 * hour);
    expect((await old.engine.listRuns()).runs).toEqual([]);
    expect(await codeOf(old.engine.triggerSchedule('flow', '0'))).toBe('RS_DEFINITION_UNKNOWN');
    await started(other);
    await old.pass(hour);
    expect(other.calls.map(({ input }) => input)).toEqual([{ n: 2 }, { n: 2 }]);
    expect(old.calls).toEqual([]);
    await Promise.all([old.engine.stop(), other.engine.stop()]);
  });

  it('goes with the revision that no longer has it', async () => {
    const world = await started(new World(flow('[{ id: hourly, every: 1h }]'), note));
    const { definitionOf } = await import('../support/flow.js');
    await world.engine.register(definitionOf(flow('[]').replace('workflow: flow', 'workflow: flow\nrevision: 2')));
    await world.pass(5 * hour);
    expect(world.calls).toEqual([]);
    expect(await world.engine.listSchedules()).toEqual([]);
    await world.engine.stop();
  });
});
