import { describe, expect, it } from 'vitest';
import { World, failing } from '../support/world.js';

const parent = (more = ''): string => `
workflow: flow
input: { n: { type: integer, default: 1 } }
steps:
  - id: child
    subWorkflow: child
    with: { n: =$input.n }
${more}
output: =$steps.child
`;

const child = `
workflow: child
input: { n: { type: integer } }
steps:
  - sleep: 1h
  - step: work
    with: { n: =$input.n }
`;

const double = { work: (input: unknown) => (input as { n: number }).n * 2 };

describe('subWorkflow', () => {
  it('runs a child of its own, and gives its output', async () => {
    const world = new World([parent(), child], double);
    const id = await world.begin({ n: 21 });
    expect(await world.run(id)).toMatchObject({ status: 'waiting', dueAt: null });
    const [record] = await world.storage.listChildren(id);
    expect(record).toMatchObject({ workflow: 'child', status: 'sleeping', parentId: id, parentStep: 'child' });
    expect((await world.end(id)).output).toBe(42);
  });

  it('holds no place meanwhile: one slot is enough for any depth', async () => {
    const deep = `
workflow: deep
input: { n: { type: integer } }
steps:
  - branch:
      - { when: $input.n = 0, do: [{ set: bottom }] }
      - else: [{ subWorkflow: deep, with: { n: =$input.n - 1 } }]
`;
    const world = new World([deep], {}, { concurrency: 1 });
    const id = await world.begin({ n: 10 }, { workflow: 'deep' });
    expect((await world.end(id)).output).toBe('bottom');
  });

  it('fails as ChildFailed with what the child failed with', async () => {
    const world = new World([parent(), child], { work: failing('Broken') });
    const id = await world.begin();
    const run = await world.end(id);
    const [record] = await world.storage.listChildren(id);
    expect(run.error).toMatchObject({
      name: 'ChildFailed',
      step: 'child',
      details: { run: record?.id, workflow: 'child', error: { name: 'Broken' } },
    });
  });

  it('refuses an input that does not fit before anything starts', async () => {
    const world = new World([`steps: [{ id: c, subWorkflow: child, with: { n: many } }]`, child], double);
    const id = await world.begin();
    expect((await world.end(id)).error).toMatchObject({ name: 'ValidationError', step: 'c' });
    expect(await world.storage.listChildren(id)).toEqual([]);
  });

  describe('past its deadline, which counts from the child’s creation', () => {
    const handled = '    timeout: 30m\n    onError: [{ errors: [Timeout], do: [{ step: fallback }] }]';
    const charging = (then: string): string =>
      `workflow: child\ninput: { n: { type: integer } }\nsteps: [{ step: charge, compensate: { step: refund } }, ${then}]`;

    const done = (name: string) => () => `${name} done`;
    const charges = { charge: done('charge'), refund: done('refund'), ship: done('ship'), fallback: done('fallback') };

    it('is Timeout, and the child is ended and undone before anything is done in its stead', async () => {
      const world = new World([parent(handled), charging('{ sleep: 1h }, { step: ship }')], charges);
      const id = await world.begin();
      const run = await world.end(id);
      expect(world.names).toEqual(['charge', 'refund', 'fallback']);
      expect(run).toMatchObject({ status: 'completed', output: 'fallback done' });
      expect((run.endedAt ?? 0) - (run.startedAt ?? 0)).toBe(30 * 60_000);
      const [record] = await world.storage.listChildren(id);
      expect(record).toMatchObject({ status: 'cancelled', rollbackStatus: 'completed' });
    });

    it('has what it did undone also where it had completed in the meantime', async () => {
      const world = new World([parent(handled), charging('{ sleep: 20m }')], charges);
      const id = await world.begin();
      const later = await world.down(60 * 60_000);
      await later.end(id);
      expect([...world.names, ...later.names]).toEqual(['charge', 'refund', 'fallback']);
    });

    it('is not undone a second time when its parent fails later', async () => {
      const world = new World([parent(`${handled}\n  - fail: Broken`), charging('{ sleep: 1h }')], charges);
      const run = await world.end(await world.begin());
      expect(run).toMatchObject({ status: 'failed', error: { name: 'Broken' } });
      expect(world.names).toEqual(['charge', 'refund', 'fallback']);
    });
  });

  it('adopts its child after a crash, with its old deadline', async () => {
    const flows = [parent('    timeout: 90m'), child];
    const world = new World(flows, double);
    const id = await world.begin();
    await world.engine.stop();
    await world.pass(45 * 60_000);
    const later = new World(flows, double, { storage: world.storage, clock: world.clock });
    await later.engine.start();
    const run = await world.clock.until(later.engine.result(id));
    expect(run.output).toBe(2);
    expect(await world.storage.listChildren(id)).toHaveLength(1);
  });

  it('stays with the revision that was newest when it started', async () => {
    const world = new World([parent(), child], { ...double, other: () => 'other' });
    const id = await world.begin();
    const { definitionOf } = await import('../support/flow.js');
    await world.engine.register(
      definitionOf(`workflow: child\nrevision: 2\ninput: { n: { type: integer } }\nsteps: [{ step: other }]`),
    );
    const second = await world.begin();
    expect((await world.end(id)).output).toBe(2);
    expect((await world.end(second)).output).toBe('other');
  });

  it('works in loops, parallel branches and forEach', async () => {
    const world = new World(
      [
        `
steps:
  - id: each
    forEach: [1, 2, 3]
    concurrency: 2
    do: [{ subWorkflow: child, with: { n: =$item } }]
  - id: both
    parallel:
      a: [{ subWorkflow: child, with: { n: 10 } }]
      b: [{ id: turn, doUntil: $iteration = 2, do: [{ subWorkflow: child, with: { n: =$iteration } }] }]
output: { each: =$steps.each, both: =$steps.both }
`,
        child,
      ],
      double,
      { concurrency: 3 },
    );
    const id = await world.begin();
    expect((await world.end(id)).output).toEqual({ each: [2, 4, 6], both: { a: 20, b: 2 } });
  });

  it('names the workflow that is not there', async () => {
    const world = new World(`steps: [{ id: c, subWorkflow: nowhere }]`);
    const id = await world.begin();
    expect((await world.end(id)).error).toMatchObject({ name: 'ChildFailed', step: 'c' });
  });
});

describe('a cancelled parent', () => {
  it('cancels its child, and waits for it', async () => {
    const world = new World([parent(), child], double);
    const id = await world.begin();
    await world.engine.cancel(id);
    expect((await world.end(id)).status).toBe('cancelled');
    const [record] = await world.storage.listChildren(id);
    expect(record?.status).toBe('cancelled');
    expect(world.calls).toEqual([]);
  });
});
