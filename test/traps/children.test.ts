import { describe, expect, it } from 'vitest';
import { definitionOf, scripted } from '../support/flow.js';
import { everyDeath, survive } from '../support/lives.js';
import { World } from '../support/world.js';

/*
 * Traps 41–44. Which case shows which:
 *
 * 41 engine/children “adopts its child after a crash, with its old deadline”
 * 42 here; engine/saga-kill
 * 43 here; engine/children “holds no place meanwhile”
 * 44 engine/children “stays with the revision that was newest when it started”
 */

describe('trap 42: a child that is undone for its parent, through crashes', () => {
  it('is undone once, before what its parent did earlier, whenever the process dies', async () => {
    const parent = definitionOf(`
steps:
  - { id: a, step: do, compensate: { step: undo } }
  - { id: c, subWorkflow: child }
  - { id: b, step: do, compensate: { step: undo } }
  - fail: Stop
`);
    const child = definitionOf(
      `workflow: child\nsteps: [{ id: inner, step: do, compensate: { step: undo } }]\nfinally: [{ step: tidy }]`,
    );
    const scenario = {
      definitions: [parent, child] as const,
      handlers: () => scripted({ do: () => 1, undo: () => null, tidy: () => null }),
      input: {},
    };
    const { units } = await survive(scenario, []);
    for (const death of everyDeath(units)) {
      const { run, done } = await survive(scenario, [death]);
      expect(run).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
      expect(done.slice(-3)).toEqual(['b#0:compensate', 'inner#0:compensate', 'a#0:compensate']);
      expect(done.filter((what) => what.startsWith('tidy'))).toHaveLength(1);
    }
  });
});

describe('trap 43: a workflow of which one run at once may run, and that starts itself', () => {
  it('does not wait for itself for ever, forwards or backwards', async () => {
    const world = new World(
      `
concurrency: 1
input: { depth: { type: integer } }
steps:
  - { step: do, compensate: { step: undo } }
  - when: $input.depth > 0
    subWorkflow: flow
    with: { depth: =$input.depth - 1 }
  - when: $input.depth = 2
    fail: Stop
`,
      { do: () => 1, undo: () => null },
    );
    const id = await world.begin({ depth: 2 });
    expect(await world.end(id)).toMatchObject({ status: 'failed', rollbackStatus: 'completed' });
    expect(world.names).toEqual(['do', 'do', 'do', 'undo', 'undo', 'undo']);
  });
});
