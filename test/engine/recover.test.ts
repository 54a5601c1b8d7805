import { describe, expect, it } from 'vitest';
import { definitionOf } from '../support/flow.js';
import { World } from '../support/world.js';

const sleeper = (more = ''): string => `workflow: flow\nsteps: [{ sleep: 1h }, { step: h${more} }]`;
const scripts = { h: () => 'done' };

/** A run of a flow that is parked, and whose engine is gone. */
async function parked(flow: string): Promise<{ world: World; id: string }> {
  const world = new World(flow, scripts);
  const id = await world.begin();
  await world.engine.stop();
  return { world, id };
}

describe('recover', () => {
  it('counts parked runs once, and moves nothing twice', async () => {
    const { world, id } = await parked(sleeper());
    const next = new World(sleeper(), scripts, { storage: world.storage, clock: world.clock });
    expect(await next.engine.recover()).toMatchObject({ running: 0, waiting: 1, compensating: 0, total: 1 });
    expect(await next.engine.recover()).toMatchObject({ waiting: 0, total: 0 });
    await next.engine.start();
    expect((await next.end(id)).output).toBe('done');
    expect(await next.engine.recover()).toMatchObject({ total: 0 });
  });

  it('names runs without their definition, which stay as they are', async () => {
    const { world, id } = await parked(sleeper());
    const other = new World(`workflow: other\nsteps: []`, scripts, { storage: world.storage, clock: world.clock });
    const { hash } = definitionOf(sleeper());
    expect((await other.engine.recover()).definitionMissing).toEqual([
      { run: id, workflow: 'flow', revision: 1, hash },
    ]);
    await other.engine.start();
    await world.pass(10 * 3_600_000);
    expect(await other.run(id)).toMatchObject({ status: 'sleeping' });
    await other.engine.stop();
  });

  it('takes up stored documents where it is told to, for the runs that are on them alone', async () => {
    const { world, id } = await parked(sleeper());
    const options = { storage: world.storage, clock: world.clock, adoptStoredDefinitions: true };
    const other = new World(`workflow: other\nsteps: []`, scripts, options);
    await other.engine.recover();
    await other.engine.start();
    expect((await other.end(id)).output).toBe('done');
    await expect(other.engine.enqueue('flow')).rejects.toThrow(/no workflow "flow"/);
    await other.engine.stop();
  });

  it.each([
    ['whose secrets no registered flow uses', sleeper(', with: { password: { $secret: ROOT } }'), scripts],
    ['whose handlers are not there', sleeper(), { other: () => 1 }],
  ])('does not take up a document %s', async (_, flow, handlers) => {
    const { world, id } = await parked(flow);
    const options = { storage: world.storage, clock: world.clock, adoptStoredDefinitions: true };
    const other = new World(`workflow: other\nsteps: []`, handlers, options);
    expect((await other.engine.recover()).definitionMissing).toHaveLength(1);
    await other.engine.start();
    await world.pass(10 * 3_600_000);
    expect((await other.run(id)).status).toBe('sleeping');
    await other.engine.stop();
  });
});

describe('clean-up and archive', () => {
  it('take finished runs that are old enough, and never what is still at work', async () => {
    const world = new World(`workflow: flow\ninputSchema: {}\nsteps: [{ when: '$input.long', sleep: 30d }]`);
    const short = await world.begin({ long: false }, { key: 'short' });
    const long = await world.begin({ long: true });
    await world.pass(3_600_000);
    expect(await world.engine.archive(2 * 3_600_000)).toBe(0);
    expect(await world.engine.archive(3_600_000)).toBe(1);
    expect(await world.engine.getArchivedCount()).toBe(1);
    expect((await world.engine.listRuns()).runs.map(({ id }) => id)).toEqual([long]);
    expect((await world.run(short)).status).toBe('completed');
    expect((await world.engine.enqueue('flow', { long: false }, { key: 'short' })).id).toBe(short);
    expect(await world.engine.cleanup(0)).toBe(1);
    await expect(world.engine.getRun(short)).rejects.toThrow(/there is no run/);
    expect((await world.run(long)).status).toBe('sleeping');
    await expect(world.engine.cleanup(-1)).rejects.toThrow(/age/);
  });

  it('happen by themselves where the engine is told to', async () => {
    const world = new World(`steps: []`, {}, { retention: { archiveAfterMs: 3_600_000, cleanupAfterMs: 86_400_000 } });
    const id = await world.begin();
    await world.pass(2.5 * 3_600_000);
    expect(await world.engine.getArchivedCount()).toBe(1);
    await world.pass(24 * 3_600_000);
    expect(await world.engine.getArchivedCount()).toBe(0);
    await expect(world.engine.getRun(id)).rejects.toThrow(/there is no run/);
    await world.engine.stop();
  });
});
