import { MemoryStorage } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

const flow = `steps: [{ id: c, subWorkflow: child }, { step: work, with: { by: parent } }]`;
const child = `
workflow: child
steps: [{ sleep: 1h }, { id: c, subWorkflow: grandchild }, { step: work, with: { by: child } }]
`;
const grandchild = `workflow: grandchild\nsteps: [{ step: work, with: { by: grandchild } }]`;

describe('an engine that is to drive one run only', () => {
  it('drives those that it owns too, at any depth, and no others', async () => {
    const world = new World([flow, child, grandchild], { work: () => null });
    const other = await world.engine.enqueue('flow');
    const { id } = await world.engine.enqueue('flow');
    await world.engine.start({ only: id });
    expect((await world.end(id)).status).toBe('completed');
    expect(world.calls.map(({ input }) => input)).toEqual([{ by: 'grandchild' }, { by: 'child' }, { by: 'parent' }]);
    expect((await world.run(other.id)).status).toBe('pending');
  });

  it('does not look again and again at an older run that it leaves alone', async () => {
    let claims = 0;
    class CountingStorage extends MemoryStorage {
      override claimRuns(...claim: Parameters<MemoryStorage['claimRuns']>): ReturnType<MemoryStorage['claimRuns']> {
        claims += 1;
        return super.claimRuns(...claim);
      }
    }
    const world = new World([`steps: [{ sleep: 1h }]`], {}, { storage: new CountingStorage() });
    await world.engine.enqueue('flow');
    const { id } = await world.engine.enqueue('flow');
    await world.engine.start({ only: id });
    await world.end(id);
    expect(claims).toBeLessThan(10);
  });
});
