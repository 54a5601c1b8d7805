import { afterEach, describe, expect, it, vi } from 'vitest';
import { MemoryStorage } from 'runsheet';
import { VirtualClock, mortal } from 'runsheet/testing';
import { gate } from '../support/flow.js';
import { type Script, World } from '../support/world.js';
import { systemClock } from '../../src/common/index.js';

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

describe('an idle engine after the machine was suspended, or its clock set forward', () => {
  const flow = `steps: [{ sleep: 1h }, { step: work }]`;

  it('does what has become due, though no timer has noticed', async () => {
    const clock = new LeapingClock();
    const world = new World(flow, { work: () => 'done' }, { clock });
    const id = await world.begin();
    clock.leap(hourMs);
    // The wall clock is looked at every few seconds; then nothing is claimed for half a lease, for the sake of others.
    await world.pass(5000 + leaseMs / 2 + 100);
    expect(await world.run(id)).toMatchObject({ status: 'completed' });
  });

  it('so does a run that is under way: its deadline fires', async () => {
    const clock = new LeapingClock();
    const never: Script = (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    const world = new World('timeout: 1h\nsteps: [{ step: work, timeout: never }]', { work: never }, { clock });
    const id = await world.begin();
    clock.leap(hourMs);
    await world.pass(5000);
    expect(await world.run(id)).toMatchObject({ status: 'failed', error: { name: 'RunTimeout' } });
  });
});

it('a run that becomes due while others are claimed is not left for later', async () => {
  const clock = new LeapingClock();
  const memory = new MemoryStorage();
  const storage = new Proxy<MemoryStorage>(memory, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (property !== 'claimRuns') return typeof member === 'function' ? member.bind(target) : member;
      return async (claim: Parameters<MemoryStorage['claimRuns']>[0]) => {
        const claimed = await memory.claimRuns(claim);
        clock.leap(10);
        return claimed;
      };
    },
  });
  const until = clock.now() + 60_000;
  const begun = new Map<unknown, number>();
  const sleeper = `input: { until: { type: integer } }\nsteps: [{ sleep: { until: =$input.until } }, { step: work }]`;
  const work: Script = (_input, context) => void begun.set(context.run.key, clock.now());
  const world = new World(sleeper, { work }, { clock, storage, concurrency: 4 });
  await world.begin({ until }, { key: 'first' });
  await world.begin({ until: until + 5 }, { key: 'second' });
  await world.pass(60_100);
  expect([...begun.keys()]).toEqual(['first', 'second']);
  expect((begun.get('second') ?? 0) - until).toBeLessThan(100);
});

describe('the alarm of the system clock', () => {
  afterEach(() => vi.useRealTimers());

  it('fires when the wall clock shows its time, within seconds of a leap', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const start = Date.now();
    let fired = 0;
    systemClock.setAlarm?.(start + hourMs, () => (fired += 1));
    vi.advanceTimersByTime(10_000);
    expect(fired).toBe(0);
    vi.setSystemTime(start + 2 * hourMs);
    vi.advanceTimersByTime(5000);
    expect(fired).toBe(1);
    vi.advanceTimersByTime(hourMs);
    expect(fired).toBe(1);
  });

  it('can be called off, also after it has looked', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    let fired = 0;
    const alarm = systemClock.setAlarm?.(Date.now() + 20_000, () => (fired += 1));
    vi.advanceTimersByTime(12_000);
    alarm?.cancel();
    vi.advanceTimersByTime(hourMs);
    expect(fired).toBe(0);
  });
});
