import { describe, expect, it } from 'vitest';
import { type Script, World } from '../support/world.js';

const minutes = (count: number): number => count * 60_000;

const work: Record<string, Script> = Object.fromEntries(
  ['charge', 'refund', 'ship', 'fallback', 'tell'].map((name) => [name, () => `${name} done`]),
);

type Acts = (world: World, id: string) => Record<number, () => Promise<unknown>>;

/** Begins a run, lets nobody drive it for two hours, and sees it to its end. */
async function afterTwoHours(flow: string | string[], acts: Acts = () => ({}), scripts: Record<string, Script> = {}) {
  const world = new World(flow, { ...work, ...scripts }, { concurrency: 4 });
  const id = await world.begin();
  const later = await world.down(minutes(120), acts(world, id));
  const run = await later.end(id);
  const journal = await later.journal(id);
  const started = journal.filter(({ kind }) => kind === 'step-started').map(({ step }) => step);
  return { run, journal, started, before: world.names, after: later.names };
}

const send =
  (name: string, payload: unknown = null): ((world: World, id: string) => () => Promise<unknown>) =>
  (world, id) =>
  () =>
    world.engine.signal(id, name, payload as never);

describe('what is overdue is decided in the order of its times', () => {
  it('a signal after the deadline of the run comes too late, one before it does not', async () => {
    const flow = 'timeout: 1h\nsteps: [{ id: g, waitFor: go, timeout: 5h }]\noutput: =$steps.g';
    const late = await afterTwoHours(flow, (world, id) => ({ [minutes(90)]: send('go', 'late')(world, id) }));
    expect(late.run).toMatchObject({ status: 'failed', error: { name: 'RunTimeout' } });
    expect(late.journal.some(({ kind }) => kind === 'signal-consumed')).toBe(false);
    const early = await afterTwoHours(flow, (world, id) => ({ [minutes(30)]: send('go', 'early')(world, id) }));
    expect(early.run).toMatchObject({ status: 'completed', output: 'early' });
  });

  it('a signal after the deadline of a block comes too late for the gate inside', async () => {
    const flow = `steps:
  - { id: block, timeout: 1h, group: [{ waitFor: go, timeout: 5h }], onError: [{ errors: [Timeout], do: [{ set: too late }] }] }`;
    const { run } = await afterTwoHours(flow, (world, id) => ({ [minutes(61)]: send('go')(world, id) }));
    expect(run.output).toBe('too late');
  });

  it('a cancellation after the deadline of the run does not change how that ends', async () => {
    const flow = 'timeout: 1h\nsteps: [{ waitFor: go, timeout: 5h }]';
    const { run } = await afterTwoHours(flow, (world, id) => ({ [minutes(90)]: () => world.engine.cancel(id) }));
    expect(run).toMatchObject({ status: 'failed', error: { name: 'RunTimeout' } });
    const before = await afterTwoHours(flow, (world, id) => ({ [minutes(30)]: () => world.engine.cancel(id) }));
    expect(before.run).toMatchObject({ status: 'cancelled' });
  });

  it('a cancellation after a signal lets the signal be taken, and nothing begin', async () => {
    const flow = 'steps: [{ waitFor: go, timeout: 5h }, { step: ship }]';
    const { run, journal, after } = await afterTwoHours(flow, (world, id) => ({
      [minutes(10)]: send('go')(world, id),
      [minutes(20)]: () => world.engine.cancel(id),
    }));
    expect(run.status).toBe('cancelled');
    expect(journal.map(({ kind }) => kind)).toContain('signal-consumed');
    expect(after).toEqual([]);
  });

  it.each([
    ['a signal', 10, 'b'],
    ['a sleep', 30, 'a'],
  ])('join: any takes what came first: %s', async (_what, signalAt, winner) => {
    const flow = `steps:
  - id: race
    join: any
    parallel:
      a: [{ sleep: 20m }, { set: a }]
      b: [{ waitFor: go, timeout: 5h }, { set: b }]
output: =$keys($steps.race)`;
    const { run } = await afterTwoHours(flow, (world, id) => ({ [minutes(signalAt)]: send('go')(world, id) }));
    expect([run.output].flat()).toEqual([winner]);
  });

  it('the first failure of a parallel is that which would have come first', async () => {
    const flow = `steps:
  - parallel:
      a: [{ id: slow, waitFor: one, timeout: 50m }]
      b: [{ sleep: 40m }, { fail: Second }]
      c: [{ id: quick, waitFor: two, timeout: 45m }]`;
    const { run } = await afterTwoHours(flow);
    expect(run.error?.name).toBe('Second');
  });

  it('a child that ended after its time was up has timed out', async () => {
    const child = 'workflow: child\nsteps: [{ sleep: 30m }]\noutput: in time';
    const flow = `steps: [{ id: c, subWorkflow: child, timeout: 1h, onError: [{ errors: [Timeout], do: [{ set: too late }] }] }]`;
    const world = new World([flow, child], work, { concurrency: 4 });
    const id = await world.begin();
    const later = await world.down(minutes(120));
    expect((await later.end(id)).output).toBe('too late');
  });

  it('at the same moment a message counts, then deadlines, then all else', async () => {
    const flow = `timeout: 1h\nsteps: [{ id: g, waitFor: go, timeout: 5h }, { sleep: 1s }]\noutput: =$steps.g`;
    const world = new World(flow, work);
    const id = await world.begin();
    // The run has begun when it was enqueued, a millisecond before it stops.
    const later = await world.down(minutes(120), { [minutes(60) - 1]: () => world.engine.signal(id, 'go', 'x') });
    const run = await later.end(id);
    expect(run.error?.name).toBe('RunTimeout');
    expect((await later.journal(id)).map(({ kind }) => kind)).toContain('signal-consumed');
  });
});

describe('nothing begins after the deadline around it has passed', () => {
  it('no step', async () => {
    const { run, started, after } = await afterTwoHours('timeout: 1h\nsteps: [{ sleep: 30m }, { step: charge }]');
    expect(run.error?.name).toBe('RunTimeout');
    expect({ started, after }).toEqual({ started: [], after: [] });
  });

  it('no step of a block, but what handles its time-out', async () => {
    const flow = `steps:
  - id: block
    timeout: 1h
    group: [{ sleep: 30m }, { step: charge, compensate: { step: refund } }]
    onError: [{ errors: [Timeout], do: [{ step: fallback }] }]
  - fail: Broken`;
    const { run, after } = await afterTwoHours(flow);
    expect(run.error?.name).toBe('Broken');
    expect(after).toEqual(['fallback']);
  });

  it('no other attempt of a step', async () => {
    const flow = `timeout: 1h\nsteps: [{ step: charge, retry: { attempts: 5, delay: 30m, backoff: constant, jitter: false } }]`;
    const { run, before, after } = await afterTwoHours(flow, undefined, {
      charge: () => {
        throw new Error('down');
      },
    });
    expect(run.error?.name).toBe('RunTimeout');
    expect({ before, after }).toEqual({ before: ['charge'], after: [] });
  });

  it('no retry later than maxDuration', async () => {
    const flow = `steps: [{ step: charge, retry: { attempts: 5, delay: 30m, backoff: constant, jitter: false, maxDuration: 1h } }]`;
    const { run, before, after } = await afterTwoHours(flow, undefined, {
      charge: () => {
        throw new Error('down');
      },
    });
    expect(run.error).toMatchObject({ message: 'down', attempt: 1 });
    expect({ before, after }).toEqual({ before: ['charge'], after: [] });
  });

  it('no child', async () => {
    const child = 'workflow: child\nsteps: [{ step: charge }]';
    const flow = 'timeout: 1h\nsteps: [{ sleep: 30m }, { subWorkflow: child }]';
    const { run, journal, after } = await afterTwoHours([flow, child]);
    expect(run.error?.name).toBe('RunTimeout');
    expect(journal.some(({ kind }) => kind === 'child-started')).toBe(false);
    expect(after).toEqual([]);
  });

  it('no pivot: what was done before is undone', async () => {
    const flow = `timeout: 1h
steps:
  - { step: charge, compensate: { step: refund } }
  - sleep: 30m
  - pivot: shipped
  - step: ship`;
    const { run, before, after } = await afterTwoHours(flow);
    expect(run).toMatchObject({ error: { name: 'RunTimeout' }, rollbackStatus: 'completed' });
    expect([...before, ...after]).toEqual(['charge', 'refund']);
  });

  it('no reminder at or after the deadline of its gate, nor of the block around it', async () => {
    const remind = 'remind: { every: 20m, step: tell }';
    const flow = `steps: [{ waitFor: go, timeout: 1h, ${remind}, onTimeout: nobody }]`;
    const { run, after } = await afterTwoHours(flow);
    expect({ output: run.output, after }).toEqual({ output: 'nobody', after: [] });
    const block = `steps:
  - { id: b, timeout: 1h, group: [{ waitFor: go, timeout: 5h, ${remind} }], onError: [{ do: [{ set: over }] }] }`;
    const inBlock = await afterTwoHours(block);
    expect({ output: inBlock.run.output, after: inBlock.after }).toEqual({ output: 'over', after: [] });
  });

  it('no handler again that was cut short by the end of its process', async () => {
    const flow = 'timeout: 1h\nsteps: [{ id: c, step: charge, compensate: { step: refund } }]';
    let hangs = true;
    const scripts: Record<string, Script> = {
      ...work,
      charge: (_input, { signal }) =>
        hangs ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stop')))) : 'done',
    };
    const world = new World(flow, scripts);
    const id = await world.begin();
    hangs = false;
    const later = await world.down(minutes(120));
    const run = await later.end(id);
    // What came of the call is not known, so that it is undone.
    expect(run).toMatchObject({ error: { name: 'RunTimeout' }, rollbackStatus: 'completed' });
    expect(later.names).toEqual(['refund']);
  });

  it('but a body that was over in time has completed, though nobody was there', async () => {
    const { run } = await afterTwoHours('timeout: 1h\nsteps: [{ sleep: 30m }, { id: s, set: 1 }]\noutput: =$steps.s');
    expect(run).toMatchObject({ status: 'completed', output: 1 });
  });
});
