import { MemoryStorage } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { World, codeOf } from '../support/world.js';

/*
 * Traps 1–12. Which case shows which:
 *
 *  1 engine/signals “takes a signal without payload as null”    7 race/race; engine/signals “never takes one that came after”
 *  2 here                                                       8 engine/signals “is refused by name”, “by a run that has ended”
 *  3 engine/signals “is refused the second time”                9 engine/signals “works in branches, parallel branches and loops”; here
 *  4 engine/signals “opens one gate only”                      10 here; engine/signals “with `never` has no deadline”
 *  5 here                                                      11 here
 *  6 here                                                      12 engine/signals “is delivered by a process that knows neither”
 */

describe('trap 9: a gate in a loop', () => {
  // Fails: `isInLoop` takes the name of a branch for the key of an arm, and refuses the second signal.
  it.each(['branch', 'onError'])('takes each turn’s signal in a parallel branch named %s', async (name) => {
    const world = new World(`
steps:
  - id: p
    parallel:
      ${name}: [{ forEach: [1, 2], do: [{ waitFor: next, timeout: 1h }] }]
output: =$steps.p
`);
    const id = await world.begin();
    await world.engine.signal(id, 'next', 'one');
    await world.engine.signal(id, 'next', 'two');
    expect((await world.end(id)).output).toEqual({ [name]: ['one', 'two'] });
  });
});

describe('trap 2: a gate whose name is a member of every object', () => {
  it.each(['toString', 'hasOwnProperty', 'valueOf'])('%s stays shut until its signal comes', async (name) => {
    const world = new World(`steps: [{ waitFor: ${name}, timeout: 1h }]`);
    const id = await world.begin();
    await world.pass(1000);
    expect((await world.run(id)).status).toBe('waiting');
    await world.engine.signal(id, name, 'now');
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: 'now' });
  });

  it('is no signal of a flow that does not name it', async () => {
    const world = new World(`steps: [{ waitFor: go, timeout: 1h }]`);
    const id = await world.begin();
    expect(await codeOf(world.engine.signal(id, 'constructor'))).toBe('RS_SIGNAL_UNKNOWN');
    expect(await codeOf(world.engine.signal(id, '__proto__'))).toBe('RS_SIGNAL_UNKNOWN');
  });
});

describe('trap 5: a signal that comes while a step runs', () => {
  it('is there when the step has been written down', async () => {
    const world: World = new World(`steps: [{ step: work }, { waitFor: go, timeout: 1h }]`, {
      work: () => new Promise((resolve) => void world.clock.setTimer(5000, () => resolve(null))),
    });
    const id = await world.begin();
    await world.engine.signal(id, 'go', 'early');
    await world.pass(10_000);
    expect(await world.run(id)).toMatchObject({ status: 'completed', output: 'early' });
  });
});

describe('trap 6: a signal that comes between “there is none” and the park', () => {
  it('is looked at again by the park itself', async () => {
    let send: (() => Promise<void>) | undefined;
    class Late extends MemoryStorage {
      override async commitUnits(
        ...args: Parameters<MemoryStorage['commitUnits']>
      ): ReturnType<MemoryStorage['commitUnits']> {
        const [units] = args;
        if (units.some(({ transition }) => transition?.kind === 'park')) {
          const now = send;
          send = undefined;
          await now?.();
        }
        return super.commitUnits(...args);
      }
    }
    const world = new World(`steps: [{ waitFor: go, timeout: never }]`, {}, { storage: new Late() });
    const { id } = await world.engine.enqueue('flow');
    send = () => world.engine.signal(id, 'go', 'just in time');
    await world.engine.start();
    await world.pass(1000);
    expect(await world.run(id)).toMatchObject({ status: 'completed', output: 'just in time' });
  });
});

describe('trap 10: a wait of thirty days', () => {
  it('neither fires early nor keeps a timer once its engine is stopped', async () => {
    const world = new World(`steps: [{ waitFor: go, timeout: 30d, onTimeout: nobody }]`);
    const id = await world.begin();
    await world.pass(29 * 86_400_000);
    expect((await world.run(id)).status).toBe('waiting');
    await world.pass(2 * 86_400_000);
    expect(await world.run(id)).toMatchObject({ status: 'completed', output: 'nobody' });
  });
});

describe('trap 11: a time that is none', () => {
  it.each(['soon', '', null, {}, '2030-13-01T00:00:00Z'])(
    '%j fails the gate by name, and waits for nothing',
    async (at) => {
      const world = new World(
        `input: { at: {} }\nsteps: [{ waitFor: go, timeout: { until: =$input.at }, onTimeout: never asked }]`,
      );
      const id = await world.begin({ at });
      await world.pass(1000);
      expect(await world.run(id)).toMatchObject({ status: 'failed', error: { name: 'ExpressionError' } });
    },
  );
});
