import { describe, expect, it } from 'vitest';
import { MemoryStorage } from 'runsheet';
import { mortal } from 'runsheet/testing';
import { World } from '../support/world.js';

const flow = `
workflow: flow
steps:
  - id: poison
    step: poison
    timeout: never
    retry: { attempts: 1 }
    compensate: { step: undo }
  - step: after
`;
const neighbour = `workflow: neighbour\nsteps: [{ step: fine }]`;

/** A process that is killed as soon as the poison is called; its lease then expires. */
async function killedProcess(world: World, storage: MemoryStorage): Promise<{ called: boolean }> {
  let called = false;
  let die = (): void => {};
  const dead = new Promise<void>((resolve) => (die = resolve));
  const { storage: view } = mortal(storage, { afterUnits: Number.POSITIVE_INFINITY });
  let alive = true;
  const dying = new Proxy(view, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => (alive ? Reflect.apply(member, target, args) : new Promise(() => {}));
    },
  });
  const victim = new World(
    [flow, neighbour],
    {
      poison: () => {
        called = true;
        alive = false;
        die();
        return new Promise(() => {});
      },
      after: () => null,
      undo: () => null,
      fine: () => null,
    },
    { storage: dying, clock: world.clock, concurrency: 5 },
  );
  await victim.engine.start();
  await Promise.race([dead, world.pass(31_000)]);
  alive = false;
  return { called };
}

describe('a step that takes its process down with it', () => {
  it('is begun again later and later, then alone, and fails in the end; its neighbours do not', async () => {
    const storage = new MemoryStorage();
    const scripts = { poison: () => null, after: () => null, undo: () => null, fine: () => null };
    const world = new World([flow, neighbour], scripts, { storage });
    const { id } = await world.engine.enqueue('flow', {});
    const beside = await world.engine.enqueue('neighbour', {});
    let deaths = 0;
    for (let life = 0; life < 100; life += 1) {
      const { called } = await killedProcess(world, storage);
      if (called) deaths += 1;
      await world.pass(31_000);
      const record = await storage.getRun(id);
      if (record?.status === 'failed') break;
    }
    // Three perhaps beside others, and ten alone.
    expect(deaths).toBe(13);
    expect(await world.run(beside.id)).toMatchObject({ status: 'completed' });
    const run = await world.run(id);
    expect(run).toMatchObject({
      status: 'failed',
      error: { name: 'Interrupted', step: 'poison' },
      rollbackStatus: 'completed',
    });
  });
});
