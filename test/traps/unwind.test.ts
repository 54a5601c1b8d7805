import { MemoryStorage } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { definitionOf, scripted } from '../support/flow.js';
import { everyDeath, survive } from '../support/lives.js';
import { World, failing } from '../support/world.js';

/*
 * Traps 31–40. Which case shows which:
 *
 * 31 engine/unwind “undoes each turn of a loop”             36 here
 * 32 here; property/random-flows                            37 here
 * 33 here; engine/saga-kill                                 38 engine/unwind “has nothing to undo”
 * 34 traps/resume; engine/unwind “goes on as a new run”     39 engine/unwind “can be given up”; property/random-flows
 * 35 here; engine/unwind “that hangs is bounded”            40 engine/unwind “that still run are cancelled”, “past their pivot”
 */

describe('trap 32: a reversal whose input could not be had at first', () => {
  // Fails: on the next walk the first pass finds the input of the second one, so that its attempts count for the first
  // pass, the operator’s old word for the second, and the reversal is called again although it is to be abandoned.
  it('is not called again once it is abandoned', async () => {
    const secrets = new Map<string, string>();
    const world = new World(
      `
steps:
  - id: a
    step: a
    compensate: { step: una, with: { key: { $secret: KEY } }, retry: { attempts: 1 } }
  - fail: Stop
`,
      { a: () => 1, una: failing('No') },
      { secrets: (name) => secrets.get(name) },
    );
    const id = await world.begin();
    await world.pass(1000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
    secrets.set('KEY', 'found');
    await world.engine.resumeCompensation(id);
    await world.pass(60_000);
    expect((await world.run(id)).status).toBe('compensation-stuck');
    expect(world.names).toEqual(['a', 'una']);
    await world.engine.abandonCompensation(id);
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'abandoned' });
    expect(world.names).toEqual(['a', 'una']);
  });
});

describe('trap 35: an operator', () => {
  const flow = `
steps:
  - { id: a, step: a, compensate: { step: una, retry: { attempts: 1 } } }
  - { id: b, step: b, compensate: { step: unb, retry: { attempts: 1 } } }
  - fail: Stop
`;

  // Fails: a second word is accepted while the first one waits, and counts for whatever is stuck next.
  it('who speaks twice does not decide about what is stuck later', async () => {
    let mended = false;
    const world = new World(flow, {
      a: () => 1,
      b: () => 1,
      una: failing('NoWay'),
      unb: () => {
        if (!mended) throw new Error('not yet');
      },
    });
    const id = await world.begin();
    await world.pass(60_000);
    mended = true;
    await Promise.allSettled([world.engine.resumeCompensation(id), world.engine.abandonCompensation(id)]);
    await world.pass(60_000);
    expect(world.names.slice(-2)).toEqual(['unb', 'una']);
    expect((await world.run(id)).status).toBe('compensation-stuck');
  });
});

describe('after the unwind', () => {
  // Fails: parked in `finally` it is still `compensating` and `owed`.
  it('a run that waits in finally is no longer compensating, and owes nothing', async () => {
    const world = new World(
      `
steps: [{ id: a, step: a, compensate: { step: una } }, { fail: Stop }]
finally: [{ sleep: 1h }]
`,
      { a: () => 1, una: () => null },
    );
    const id = await world.begin();
    await world.pass(1000);
    expect(await world.run(id)).toMatchObject({ status: 'sleeping', rollbackStatus: 'completed' });
  });
});

const saga = `
steps:
  - { id: a, step: a, compensate: { step: una } }
  - { id: b, step: b, compensate: { step: unb } }
  - fail: Stop
`;
const done = { a: () => 1, b: () => 2, una: () => null, unb: () => null };

describe('trap 33: a process that dies between the failure and the unwind', () => {
  it('leaves the debt behind in the failing transaction, whenever it dies', async () => {
    const scenario = { definitions: [definitionOf(saga)] as const, handlers: () => scripted(done), input: {} };
    const { units } = await survive(scenario, []);
    for (const death of everyDeath(units)) {
      const survived = await survive(scenario, [death]);
      expect(survived.run).toMatchObject({ status: 'failed', rollbackStatus: 'completed', error: { name: 'Stop' } });
      expect(survived.done.slice(-2)).toEqual(['b#0:compensate', 'a#0:compensate']);
    }
  });
});

describe('trap 36: a write that fails in mid-unwind', () => {
  it('keeps the first error, and nothing that is recorded as undone is undone again', async () => {
    let broken = false;
    class Failing extends MemoryStorage {
      override async commitUnits(
        ...args: Parameters<MemoryStorage['commitUnits']>
      ): ReturnType<MemoryStorage['commitUnits']> {
        const isOfUnwind = args[0].some(({ entries }) =>
          entries.some(({ kind, step }) => kind === 'compensation-started' && step === 'a'),
        );
        if (isOfUnwind && !broken) {
          broken = true;
          throw new Error('the disk is full');
        }
        return super.commitUnits(...args);
      }
    }
    const faults: unknown[] = [];
    const world = new World(saga, done, { storage: new Failing() });
    world.engine.onFault((error) => faults.push(error));
    await world.engine.start();
    const { id } = await world.engine.enqueue('flow');
    const run = await world.clock.until(world.engine.result(id));
    expect(faults.map(String)).toEqual(['Error: the disk is full']);
    expect(run).toMatchObject({ status: 'failed', rollbackStatus: 'completed', error: { name: 'Stop' } });
    // That b is undone was to be written together with the start of the next one: its outcome is unknown, its key the same.
    expect(world.calls.filter(({ name }) => name === 'una')).toHaveLength(1);
    expect(new Set(world.calls.filter(({ name }) => name === 'unb').map(({ key }) => key)).size).toBe(1);
    const journal = await world.journal(id);
    expect(journal.filter(({ kind }) => kind === 'compensation-completed').map(({ step }) => step)).toEqual(['b', 'a']);
  });
});

describe('trap 37: a deployment without the step whose reversal is owed', () => {
  const parked = saga.replace('fail: Stop', '{ waitFor: go, timeout: 1h }');

  it('without its handler is refused, naming it', () => {
    const { una: _una, ...rest } = done;
    expect(() => new World(parked, rest)).toThrow(/una/);
  });

  it('with another flow leaves the run alone, and says whose definition is missing', async () => {
    const before = new World(parked, done);
    const id = await before.begin();
    await before.engine.stop();
    const { storage, clock } = before;
    const after = new World('revision: 2\nsteps: []', {}, { storage, clock });
    await after.engine.start();
    await after.pass(2 * 3_600_000);
    expect((await after.engine.recover()).definitionMissing.map(({ run }) => run)).toEqual([id]);
    expect((await after.run(id)).status).toBe('waiting');
    const again = new World(parked, done, { storage, clock });
    await again.engine.start();
    expect(await again.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(again.names).toEqual(['unb', 'una']);
  });
});
