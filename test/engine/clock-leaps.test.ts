import { describe, expect, it } from 'vitest';
import { MemoryStorage } from 'runsheet';
import { VirtualClock, mortal } from 'runsheet/testing';
import { gate } from '../support/flow.js';
import { World } from '../support/world.js';

const hourMs = 3_600_000;
const leaseMs = 30_000;

/** Virtual time whose readings can be set forward, which no timer notices. */
class LeapingClock extends VirtualClock {
  #wallMs = 0;
  #monotonicMs = 0;

  override now(): number {
    return super.now() + this.#wallMs;
  }

  override monotonic(): number {
    return super.monotonic() + this.#monotonicMs;
  }

  /** Somebody sets the clock, or the machine was suspended. */
  leap(ms: number): void {
    this.#wallMs += ms;
  }

  /** The process was stopped for so long. */
  standStill(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }
}

const slow = `workflow: slow\nconcurrency: 1\nsteps: [{ step: work, timeout: never }]`;
const quick = `workflow: quick\nsteps: [{ step: quick }]`;

/** Engines of two processes; the first drives a run whose handler is under way until `work` opens. */
async function twoEngines() {
  const clock = new LeapingClock();
  const storage = new MemoryStorage();
  const work = gate();
  const options = { clock, storage, concurrency: 3 };
  const worlds = [0, 1].map(
    () => new World([slow, quick], { work: async () => void (await work.promise), quick: () => 'done' }, options),
  );
  const [one, other] = worlds as [World, World];
  const id = await one.begin({}, { workflow: 'slow' });
  await other.engine.start();
  const leased = await storage.getRun(id);
  expect(one.names).toEqual(['work']);
  return { clock, storage, work, one, other, id, leased, calls: () => [...one.names, ...other.names] };
}

describe('a clock that is set forward past the leases', () => {
  it('costs nobody his lease: no call is made twice, and no place of a limited workflow given away', async () => {
    const { clock, storage, work, one, other, id, leased, calls } = await twoEngines();
    clock.leap(hourMs);
    const next = await other.engine.enqueue('slow');
    const beside = await one.engine.enqueue('quick');
    await clock.advance(1000);
    expect(calls()).toEqual(['work']);
    expect(await storage.getRun(id)).toMatchObject({ owner: leased?.owner, epoch: 1, interruptions: 0 });

    expect(await one.end(beside.id)).toMatchObject({ status: 'completed' });
    await clock.advance(10 * leaseMs);
    expect(calls()).toEqual(['work', 'quick']);
    expect(await storage.getRun(id)).toMatchObject({ owner: leased?.owner, epoch: 1, interruptions: 0 });
    work.open();
    expect(await one.end(id)).toMatchObject({ status: 'completed' });
    expect(await other.end(next.id)).toMatchObject({ status: 'completed' });
    expect(calls()).toEqual(['work', 'quick', 'work']);
  });

  it('saves no dead engine: its run is taken over once the living have had the time to renew their leases', async () => {
    const clock = new LeapingClock();
    const storage = new MemoryStorage();
    const { storage: view, die } = mortal(storage, { afterUnits: Number.POSITIVE_INFINITY });
    const dying = new World(quick, { quick: () => new Promise(() => {}) }, { clock, storage: view });
    const left = await dying.begin({}, { workflow: 'quick' });
    expect(dying.names).toEqual(['quick']);
    die();
    const heir = new World(quick, { quick: () => 'done' }, { clock, storage });
    await heir.engine.start();
    clock.leap(hourMs);
    await heir.engine.enqueue('quick');
    const leaptAt = clock.now();
    expect(await heir.end(left)).toMatchObject({ status: 'completed' });
    expect(clock.now() - leaptAt).toBeGreaterThanOrEqual(leaseMs / 3);
    expect(clock.now() - leaptAt).toBeLessThan(leaseMs);
  });
});

describe('an engine that stood still for longer than its lease', () => {
  it('renews what nobody has taken before it claims, and does not take its own run', async () => {
    const { clock, storage, work, one, other, id, calls } = await twoEngines();
    await other.engine.stop();
    clock.standStill(2 * leaseMs);
    const beside = await one.engine.enqueue('quick');
    await clock.rest();
    expect(await one.end(beside.id)).toMatchObject({ status: 'completed' });
    expect(calls()).toEqual(['work', 'quick']);
    expect(await storage.getRun(id)).toMatchObject({ epoch: 1, interruptions: 0 });
    work.open();
    expect(await one.end(id)).toMatchObject({ status: 'completed' });
  });
});
