import { describe, expect, it } from 'vitest';
import { type RunHistory, readHistory } from '../../src/engine/index.js';
import { World, failing } from '../support/world.js';

async function historyOf(world: World, id: string): Promise<RunHistory> {
  const record = await world.storage.getRun(id);
  if (record === undefined) throw new Error(`no run ${id}`);
  return readHistory(world.storage, record);
}

/** `step#occurrence state`, in order. */
const statesOf = ({ steps }: RunHistory): string[] =>
  steps.map(({ step, occurrence, state }) => `${step}${occurrence === '0' ? '' : `#${occurrence}`} ${state}`);

const undoable = (id: string): string => `
  - id: ${id}
    step: ${id}
    retry: { attempts: 1 }
    compensate: { step: un${id}, with: { result: =$result }, retry: { attempts: 2, delay: 1m, jitter: false } }
`;

describe('the history of steps', () => {
  it('tells attempts, inputs, outputs, errors, and when it goes on', async () => {
    let calls = 0;
    const world = new World(
      `steps: [{ id: a, step: a, with: { x: 1 }, retry: { attempts: 3, delay: 1m, jitter: false } }, { id: s, sleep: 1h }, { when: false, id: b, step: a }]`,
      {
        a: () => {
          calls += 1;
          if (calls === 1) throw new Error('not yet');
          return { y: calls };
        },
      },
    );
    const id = await world.begin();
    const [retrying] = (await historyOf(world, id)).steps;
    expect(retrying).toMatchObject({
      kind: 'step',
      state: 'retrying',
      attempts: 1,
      input: { x: 1 },
      error: { name: 'Error', message: 'not yet', attempt: 1 },
    });
    expect(retrying).toHaveProperty('dueAt', (await world.run(id)).dueAt);
    await world.pass(60_000);
    expect(statesOf(await historyOf(world, id))).toEqual(['a completed', 's sleeping']);
    await world.end(id);
    const { steps, reversals } = await historyOf(world, id);
    expect(steps).toMatchObject([{ attempts: 2, output: { y: 2 } }, { state: 'slept' }, { state: 'skipped' }]);
    expect(reversals).toEqual([]);
  });

  it('tells the gates: what they wait for, since and until when, and how they were decided', async () => {
    const world = new World(
      `
steps:
  - join: any
    parallel:
      a: [{ id: open, waitFor: go, timeout: 1d, filter: $signal.fits = true, schema: { type: object } }]
      b: [{ id: never, waitFor: stop, timeout: never }]
  - { id: late, waitFor: late, timeout: 1h, onTimeout: null }
`,
    );
    const id = await world.begin();
    const at = world.clock.now() - 1;
    await world.engine.signal(id, 'go', { fits: false });
    await world.pass(1);
    expect((await historyOf(world, id)).steps).toMatchObject([
      {
        kind: 'gate',
        state: 'waiting',
        signal: 'go',
        startedAt: at,
        deadline: at + 86_400_000,
        schema: { type: 'object' },
        rejected: 1,
      },
      { state: 'waiting', signal: 'stop', deadline: null, rejected: 0 },
    ]);
    await world.engine.signal(id, 'go', { fits: true });
    await world.end(id);
    const history = await historyOf(world, id);
    expect(statesOf(history)).toEqual(['open received', 'never aborted', 'late timed-out']);
    expect(history.steps[0]).toMatchObject({ output: { fits: true } });
  });

  it('knows what an abort has ended: in the turn and the block that it is about, and nowhere else', async () => {
    const world = new World(
      `
steps:
  - parallel:
      turns:
        - forEach: [1, 2]
          concurrency: 2
          do:
            - timeout: '1h'
              when: $item = 1
              group: [{ id: inner, sleep: 1d }]
              onError: [{ do: [{ id: handling, sleep: 2d }] }]
            - { id: after, sleep: 3d }
      gate:
        - id: gate
          waitFor: go
          timeout: never
          remind: { every: 10m, step: remind, id: reminder }
`,
      { remind: failing('Busy') },
    );
    const id = await world.begin();
    await world.pass(2 * 3_600_000);
    expect(statesOf(await historyOf(world, id)).filter((state) => !state.startsWith('reminder'))).toEqual([
      'gate waiting',
      'group@0.turns.0.0#1 skipped',
      'after#1 sleeping',
      'inner aborted',
      'handling sleeping',
    ]);
    await world.pass(600_000);
    const states = async (): Promise<string | undefined> =>
      statesOf(await historyOf(world, id)).findLast((state) => state.startsWith('reminder'));
    expect(await states()).toMatch(/retrying/);
    await world.engine.signal(id, 'go');
    await world.pass(1);
    expect(await states()).toMatch(/failed/);
    await world.engine.cancel(id);
    await world.end(id);
    expect(statesOf(await historyOf(world, id)).filter((state) => / (sleeping|waiting|retrying)$/.test(state))).toEqual(
      [],
    );
  });

  it('tells the children, with their own state', async () => {
    const world = new World(
      [
        `steps: [{ id: c, subWorkflow: child, timeout: 1h, onError: [{ do: [] }] }, { sleep: 1h }]`,
        'workflow: child\nsteps: [{ sleep: 1d }]\noutput: 1',
      ],
      {},
      { concurrency: 2 },
    );
    const id = await world.begin();
    const [child] = await world.storage.listChildren(id);
    expect((await historyOf(world, id)).steps).toMatchObject([
      { kind: 'child', step: 'c', state: 'waiting', run: child?.id, workflow: 'child', status: 'sleeping' },
    ]);
    await world.pass(3_600_000);
    expect((await historyOf(world, id)).steps[0]).toMatchObject({ state: 'timed-out', status: 'cancelled' });
  });
});

describe('the history of an unwind', () => {
  const undoing = {
    a: () => 1,
    b: () => 2,
    c: failing('Broken'),
    una: () => null,
    unb: () => null,
    unc: () => null,
  };
  const saga = `steps:${undoable('a')}${undoable('b')}${undoable('c')}`;

  it('is empty as long as nothing is undone', async () => {
    const world = new World(saga.replace(/- id: c[^]*/, '- sleep: 1h'), undoing);
    const id = await world.begin();
    expect(await historyOf(world, id)).toMatchObject({ reversals: [], resumable: false });
  });

  it('tells what is owed, retried, stuck and undone, in the order of undoing', async () => {
    let mended = false;
    const world = new World(saga, {
      ...undoing,
      unb: () => {
        if (!mended) throw new Error('not yet');
      },
    });
    const id = await world.begin();
    const reversals = async () => (await historyOf(world, id)).reversals;
    expect(await reversals()).toMatchObject([
      { step: 'c', handler: 'unc', state: 'undone', attempts: 1, input: { result: null } },
      { step: 'b', handler: 'unb', state: 'retrying', attempts: 1, error: { message: 'not yet' } },
      { step: 'a', handler: 'una', state: 'owed', attempts: 0 },
    ]);
    expect((await reversals())[1]).toHaveProperty('dueAt', (await world.run(id)).dueAt);
    await world.pass(60_000);
    expect((await reversals()).map(({ state }) => state)).toEqual(['undone', 'stuck', 'owed']);
    mended = true;
    await world.engine.resumeCompensation(id);
    await world.end(id);
    const history = await historyOf(world, id);
    expect(history.reversals.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['undone', 1],
      ['undone', 3],
      ['undone', 1],
    ]);
    expect(history.resumable).toBe(false);
    expect(statesOf(history)).toEqual(['a completed', 'b completed', 'c failed']);
  });

  it('tells what was given up', async () => {
    const world = new World(saga, { ...undoing, unc: failing('NoWay') });
    const id = await world.begin();
    await world.pass(60_000);
    await world.engine.abandonCompensation(id);
    await world.end(id);
    const { reversals } = await historyOf(world, id);
    expect(reversals.map(({ step, state, why }) => [step, state, why])).toEqual([
      ['c', 'skipped', 'abandoned'],
      ['b', 'skipped', 'abandoned'],
      ['a', 'skipped', 'abandoned'],
    ]);
  });

  it('leaves out what had no effect, and everything past a pivot', async () => {
    const proven = `steps:${undoable('a')}${undoable('c').replace('compensate: {', 'compensate: { exceptErrors: [Broken],')}`;
    const world = new World(proven, undoing);
    const id = await world.begin();
    await world.end(id);
    expect((await historyOf(world, id)).reversals.map(({ step }) => step)).toEqual(['a']);

    const past = new World(`steps:${undoable('a')}\n  - pivot: done${undoable('c')}`, undoing);
    const other = await past.begin();
    await past.end(other);
    expect(await historyOf(past, other)).toMatchObject({ reversals: [], resumable: true });
  });

  it('tells the children, which undo themselves', async () => {
    const parent = `steps: [{ id: kid, subWorkflow: child }, { fail: Stop }]`;
    const child = `workflow: child\nsteps:${undoable('a')}`;
    const world = new World([parent, child], { a: () => 1, una: failing('NoWay') });
    const id = await world.begin();
    await world.pass(60_000);
    const [kid] = await world.storage.listChildren(id);
    expect((await historyOf(world, id)).reversals).toMatchObject([
      { step: 'kid', handler: null, run: kid?.id, state: 'stuck' },
    ]);
    expect((await historyOf(world, kid?.id ?? '')).reversals).toMatchObject([{ step: 'a', state: 'stuck' }]);
  });
});
