import { MemoryStorage } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

/** A storage that shows at once what it has written, but acknowledges it later, as one does that waits for the disk. */
class SlowToAcknowledge extends MemoryStorage {
  constructor(readonly clock: VirtualClock) {
    super();
  }

  override async commitUnits(
    ...args: Parameters<MemoryStorage['commitUnits']>
  ): ReturnType<MemoryStorage['commitUnits']> {
    const results = await super.commitUnits(...args);
    await new Promise<void>((resolve) => void this.clock.setTimer(10, resolve));
    return results;
  }
}

describe('trap 45: a run that its own engine claims again before its park is acknowledged', () => {
  // Else the end of the old drive would take the new driver off the list of those whose leases are renewed.
  it('keeps its lease, and calls its handler once', async () => {
    const clock = new VirtualClock();
    const world = new World(
      `steps: [{ waitFor: go, timeout: 1h }, { step: work }]`,
      { work: () => new Promise((resolve) => void clock.setTimer(100_000, () => resolve('done'))) },
      { storage: new SlowToAcknowledge(clock), clock, concurrency: 2 },
    );
    const id = await world.begin();
    await world.engine.signal(id, 'go');
    expect(await world.end(id)).toMatchObject({ status: 'completed', output: 'done' });
    expect(world.names).toEqual(['work']);
  });
});
