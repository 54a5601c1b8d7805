import { describe, expect, it } from 'vitest';
import { World, failing } from '../support/world.js';

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
