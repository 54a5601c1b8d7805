import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

describe('trap 9: a gate in a loop', () => {
  // Fails: `isInLoop` takes the name of a branch for the key of an arm, and refuses the second signal.
  it.each(['branch', 'onError'])('takes each turn’s signal in a parallel branch named %s', async (name) => {
    const world = new World(`
steps:
  - id: p
    parallel:
      ${name}: [{ forEach: [1, 2], do: [{ waitFor: next, timeout: 1h }] }]
output: =$steps.p
`);
    const id = await world.begin();
    await world.engine.signal(id, 'next', 'one');
    await world.engine.signal(id, 'next', 'two');
    expect((await world.end(id)).output).toEqual({ [name]: ['one', 'two'] });
  });
});
