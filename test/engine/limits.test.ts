import { describe, expect, it } from 'vitest';
import { gate } from '../support/flow.js';
import { World } from '../support/world.js';

const limited = `
workflow: flow
concurrency: 2
inputSchema: {}
steps: [{ id: h, step: h, with: { n: =$input.n }, timeout: never }]
`;

describe('concurrency of a workflow', () => {
  it('is never exceeded, over several engines; others wait in order, and other workflows go on', async () => {
    const gates = [0, 1, 2, 3].map(() => gate());
    const started: number[] = [];
    const scripts = {
      h: async (input: unknown) => {
        const { n } = input as { n: number };
        started.push(n);
        await gates[n]?.promise;
      },
    };
    const free = `workflow: free\nsteps: [{ set: done }]`;
    const one = new World([limited, free], scripts, { concurrency: 5 });
    const two = new World([limited, free], scripts, { concurrency: 5, storage: one.storage, clock: one.clock });
    await two.engine.start();
    const ids = [];
    for (const n of [0, 1, 2, 3]) ids.push(await one.begin({ n }));
    const other = await one.begin({}, { workflow: 'free' });
    await one.pass(1000);
    expect(started).toEqual([0, 1]);
    expect((await one.run(other)).status).toBe('completed');
    expect((await one.run(ids[2] ?? '')).status).toBe('pending');
    gates[1]?.open();
    await one.pass(1000);
    expect(started).toEqual([0, 1, 2]);
    gates[0]?.open();
    gates[2]?.open();
    gates[3]?.open();
    for (const id of ids) expect((await one.end(id)).status).toBe('completed');
    await Promise.all([one.engine.stop(), two.engine.stop()]);
  });

  it('counts no run that sleeps, waits or backs off', async () => {
    const world = new World(
      `
concurrency: 1
input: { kind: { type: string } }
steps:
  - branch:
      - { when: $input.kind = "sleep", do: [{ sleep: 1d }] }
      - { when: $input.kind = "wait", do: [{ waitFor: go, timeout: 1d, onTimeout: null }] }
      - { when: $input.kind = "retry", do: [{ step: bad, retry: { attempts: 2, delay: 1d, maxDelay: 1d } }] }
      - else: [{ set: quick }]
`,
      {
        bad: () => {
          throw new Error('no');
        },
      },
      { concurrency: 5 },
    );
    for (const kind of ['sleep', 'wait', 'retry']) await world.begin({ kind });
    const quick = await world.begin({ kind: 'quick' });
    await world.pass(1000);
    expect((await world.run(quick)).status).toBe('completed');
  });

  it('is that of the highest revision', async () => {
    const world = new World(limited, { h: () => new Promise(() => {}) }, { concurrency: 10 });
    const { definitionOf } = await import('../support/flow.js');
    await world.engine.register(definitionOf(limited.replace('concurrency: 2', 'concurrency: 3\nrevision: 2')));
    for (const n of [0, 1, 2, 3]) await world.begin({ n });
    await world.pass(1000);
    expect(world.calls).toHaveLength(3);
  });
});

describe('close(true)', () => {
  it('hands the runs back at once, and nothing of the old engine is heard of again', async () => {
    const hangs = gate<string>();
    const flow = `steps: [{ id: a, step: a, timeout: never }, { id: b, step: b }]`;
    let calls = 0;
    const scripts = {
      a: () => {
        calls += 1;
        return calls === 1 ? hangs.promise : 'second';
      },
      b: () => 'b',
    };
    const old = new World(flow, scripts);
    const id = await old.begin();
    const { MemoryStorage } = await import('runsheet');
    expect(old.storage).toBeInstanceOf(MemoryStorage);
    await old.engine.close(true);
    const replacement = new World(flow, scripts, { storage: old.storage, clock: old.clock });
    await replacement.engine.start();
    expect((await replacement.end(id)).output).toBe('b');
    hangs.open('first, too late');
    await old.pass(60_000);
    const journal = await replacement.journal(id);
    const ends = journal.filter(({ kind, step }) => kind === 'step-completed' && step === 'a');
    expect(ends.map(({ payload }) => payload)).toEqual(['{"value":"second"}']);
    expect(old.names).toEqual(['a']);
    await replacement.engine.stop();
  });
});
