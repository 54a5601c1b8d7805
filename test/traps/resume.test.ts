import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

/** A step that fails until it is mended. */
function mendable(): { work: () => string; mend: () => void } {
  let broken = true;
  return {
    work: () => {
      if (broken) throw new Error('down');
      return 'done';
    },
    mend: () => (broken = false),
  };
}

const answeredThenBroken = (last: string): string => `
steps:
  - { waitFor: first, timeout: 1h }
  - { step: work, retry: { attempts: 1 } }
  - ${last}
`;

/** Answers the first gate of a run, lets it fail, mends what failed, resumes it; the id of the new run. */
async function resumed(flow: string): Promise<{ world: World; id: string }> {
  const { work, mend } = mendable();
  const world = new World(flow, { work });
  const failed = await world.begin();
  await world.engine.signal(failed, 'first', 1);
  expect((await world.end(failed)).status).toBe('failed');
  mend();
  const { id } = await world.engine.resume(failed);
  await world.pass(1000);
  return { world, id };
}

describe('trap 34: a resumed run', () => {
  // Fails: it takes over `inboxSeq` of the old run's inbox, and so counts its own first messages as taken.
  it('gets the signals that are sent to it', async () => {
    const { world, id } = await resumed(answeredThenBroken('{ waitFor: second, timeout: 1h }'));
    await world.engine.signal(id, 'second', 'hello');
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: 'hello' });
  });

  // Fails for the same reason.
  it('can be cancelled', async () => {
    const { world, id } = await resumed(answeredThenBroken('{ sleep: 1h }'));
    await world.engine.cancel(id);
    expect((await world.end(id)).status).toBe('cancelled');
  });

  // Fails: what a gate of the old run turned down is taken over by number, and the new run's message has that number.
  it('offers a new signal to a gate that had turned down one of the same number', async () => {
    const { work, mend } = mendable();
    const world = new World(
      `
steps:
  - parallel:
      gate: [{ id: g, waitFor: go, filter: $signal > 10, timeout: 1d }]
      work: [{ sleep: 1h }, { step: work, retry: { attempts: 1 } }]
output: =$steps.g
`,
      { work },
    );
    const failed = await world.begin();
    await world.engine.signal(failed, 'go', 1);
    expect((await world.end(failed)).status).toBe('failed');
    mend();
    const { id } = await world.engine.resume(failed);
    await world.pass(1000);
    await world.engine.signal(id, 'go', 11);
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: 11 });
  });

  // Fails: it takes over that the child was started, but not that it failed, and waits for ever for its end.
  it('starts a child anew that had failed', async () => {
    const { work, mend } = mendable();
    const child = `workflow: child\nsteps: [{ step: work, retry: { attempts: 1 } }]`;
    const world = new World([`steps: [{ subWorkflow: child }]`, child], { work });
    const failed = await world.begin();
    expect((await world.end(failed)).error).toMatchObject({ name: 'ChildFailed' });
    mend();
    const { id } = await world.engine.resume(failed);
    await world.pass(86_400_000);
    expect(await world.run(id)).toMatchObject({ status: 'completed', output: 'done' });
  });

  // Fails: the gate's old deadline, which is over, is taken over with its decision.
  it('waits again at a gate that had timed out', async () => {
    const world = new World(`steps: [{ waitFor: go, timeout: 1h }]`);
    const failed = await world.begin();
    expect((await world.end(failed)).error).toMatchObject({ name: 'WaitTimeout' });
    const { id } = await world.engine.resume(failed);
    await world.pass(60_000);
    await world.engine.signal(id, 'go', 'late but here');
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: 'late but here' });
  });

  it('does not wait again at a gate that was decided by its onTimeout', async () => {
    const { work, mend } = mendable();
    const world = new World(
      `steps: [{ id: g, waitFor: go, timeout: 1h, onTimeout: nobody }, { step: work, retry: { attempts: 1 } }]\noutput: =$steps.g`,
      { work },
    );
    const failed = await world.begin();
    expect((await world.end(failed)).status).toBe('failed');
    mend();
    const { id } = await world.engine.resume(failed);
    await world.pass(1000);
    expect(await world.run(id)).toMatchObject({ status: 'completed', output: 'nobody' });
  });
});
