import { expect, it } from 'vitest';
import { World, failing } from '../support/world.js';

// From its outcome on a run says why it failed, also to whoever looks at it while it is undone or stuck.
const flow = `
steps:
  - id: a
    step: a
    compensate: { step: una, retry: { attempts: 1 } }
  - fail: Stop
`;

it('a run that is stuck in its unwind says why it failed', async () => {
  const world = new World(flow, { a: () => 1, una: failing('NoWay') });
  const id = await world.begin();
  await world.pass(1000);
  const run = await world.run(id);
  if (run.status !== 'compensation-stuck') return;
  expect(run.error).toMatchObject({ name: 'Stop' });
});
