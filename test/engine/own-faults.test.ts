import { MemoryStorage } from 'runsheet';
import { expect, it } from 'vitest';
import { World } from '../support/world.js';

/** Fails as a fault of the engine's own would, whenever one run is executed. */
class Unreadable extends MemoryStorage {
  broken: string | undefined;
  reads = 0;

  override async readJournal(...given: Parameters<MemoryStorage['readJournal']>) {
    const rows = await super.readJournal(...given);
    const run = (await this.listRuns({})).runs.find((one) => one.run === given[0]);
    if (run?.id !== this.broken) return rows;
    this.reads += 1;
    throw new TypeError('a fault in the engine');
  }
}

const flow = `
steps:
  - sleep: 1s
  - id: a
    step: a
`;

it('a run on which the engine itself fails backs off, comes under quarantine, and holds up no other', async () => {
  const storage = new Unreadable();
  const world = new World(flow, { a: () => 1 }, { storage, concurrency: 3 });
  const bad = await world.begin();
  storage.broken = bad;
  await world.pass(10 * 60_000);
  expect(storage.reads).toBeGreaterThan(2);
  expect(storage.reads).toBeLessThan(15);
  expect((await storage.survey('somebody', [], world.clock.now())).suspects).toEqual([bad]);
  const good = await world.begin();
  const before = world.clock.now();
  expect(await world.clock.until(world.engine.result(good))).toMatchObject({ status: 'completed' });
  expect(world.clock.now() - before).toBeLessThan(5000);
  storage.broken = undefined;
  await world.pass(10 * 60_000);
  expect(await world.engine.getRun(bad)).toMatchObject({ status: 'completed' });
});
