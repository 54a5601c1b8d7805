import { expect, it } from 'vitest';
import { World, failing } from '../support/world.js';

/*
 * Found: `error` says why a run failed from its outcome on ("From then on the outcome stands", engine.md §5.1),
 * but the run's row learns of it only when the run has ended. Whoever looks at a run that is stuck, `getRun` or a
 * list, cannot see what it is being undone for.
 */
const flow = `
steps:
  - id: a
    step: a
    compensate: { step: una, retry: { attempts: 1 } }
  - fail: Stop
`;

it.fails('a run that is stuck in its unwind says why it failed', async () => {
  const world = new World(flow, { a: () => 1, una: failing('NoWay') });
  const id = await world.begin();
  await world.pass(1000);
  const run = await world.run(id);
  if (run.status !== 'compensation-stuck') return;
  expect(run.error).toMatchObject({ name: 'Stop' });
});
