import { MemoryStorage } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';
import { describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

const leaseMs = 30_000;
const poisonMs = 5000;
const neighbourMs = 1000;

const poisoned = `workflow: poisoned\nconcurrency: 1\nsteps: [{ step: poison }]`;
const neighbour = `workflow: neighbour\nsteps: [{ step: fine }]`;
const parent = `workflow: parent\nsteps: [{ subWorkflow: neighbour }]`;

/** What the names of engines are made of, which tell how patient they are: one lease, or almost two. */
const impatient = 0x00;
const patient = 0xff;

interface Call {
  readonly engine: number;
  readonly name: string;
  readonly at: number;
  /** How many handlers of the same engine run already. */
  readonly beside: number;
}

/** Engines of two slots each over one storage, which are given as much as they can do. */
class BusyWorld {
  readonly clock = new VirtualClock();
  readonly storage = new MemoryStorage();
  readonly calls: Call[] = [];
  readonly #enqueued: string[] = [];
  readonly #worlds: readonly World[];
  readonly #first: World;

  constructor(...names: readonly number[]) {
    this.#worlds = names.map((name, engine) => this.#world(name, engine));
    this.#first = this.#worlds[0] ?? expect.fail('there is an engine');
  }

  #world(name: number, engine: number): World {
    const { clock, storage } = this;
    let running = 0;
    const taking = (handler: string, ms: number) => async (): Promise<void> => {
      this.calls.push({ engine, name: handler, at: clock.now(), beside: running });
      running += 1;
      await new Promise<void>((resolve) => clock.setTimer(ms, resolve));
      running -= 1;
    };
    let drawn = 0;
    const randomBytes = (): Uint8Array => {
      const bytes = Buffer.alloc(16, name);
      bytes.writeUInt32BE(engine * 0x1000000 + (drawn += 1));
      return bytes;
    };
    const scripts = { poison: taking('poison', poisonMs), fine: taking('fine', neighbourMs) };
    return new World([poisoned, neighbour, parent], scripts, { storage, clock, concurrency: 2, randomBytes });
  }

  async enqueue(workflow: string): Promise<string> {
    const { id } = await this.#first.engine.enqueue(workflow, {});
    this.#enqueued.push(id);
    return id;
  }

  /** Leased to an engine that is not heard of again. */
  async lease(id: string, forMs: number): Promise<void> {
    const { definitionHash = '' } = (await this.storage.getRun(id)) ?? {};
    const now = this.clock.now();
    const claim = { owner: 'silent', hashes: [definitionHash], limit: 1, only: id, alone: false };
    await this.storage.claimRuns({ ...claim, now, leaseExpiresAt: now + forMs });
  }

  /** A run that was interrupted three times in a row; answers when it is due. */
  async suspect(): Promise<number> {
    const id = await this.enqueue('poisoned');
    // Due at once after the first time, and 4 s after the second.
    for (const waitMs of [0, 1, 1, 4000, 1]) {
      await this.clock.advance(waitMs);
      await this.lease(id, 1);
    }
    const record = await this.storage.getRun(id);
    expect(record).toMatchObject({ interruptions: 3, owner: null });
    return record?.dueAt ?? expect.fail('it is due');
  }

  async start(): Promise<void> {
    for (const { engine } of this.#worlds) await engine.start();
  }

  /** Two runs of a second each second for each engine; every other one owns the one that takes the time. */
  async stream(forMs: number): Promise<void> {
    const intervalMs = neighbourMs / 2 / this.#worlds.length;
    for (let ms = 0; ms < forMs; ms += intervalMs) {
      await this.enqueue((ms / intervalMs) % 2 === 0 ? 'parent' : 'neighbour');
      await this.clock.advance(intervalMs);
    }
  }

  callsOf(name: string): Call[] {
    return this.calls.filter((call) => call.name === name);
  }

  /** The longest time from one call of a neighbour to the next. */
  longestGap(engine: number): number {
    const times = this.callsOf('fine').flatMap((call) => (call.engine === engine ? [call.at] : []));
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }

  async stop(): Promise<void> {
    await this.clock.until(Promise.all(this.#worlds.map(({ engine }) => engine.stop())));
  }

  /** All that was enqueued completes, and then the engines stop. */
  async end(): Promise<void> {
    for (const id of this.#enqueued) expect(await this.#first.end(id)).toMatchObject({ status: 'completed' });
    await this.stop();
  }
}

describe('a suspect, where every engine is always busy', () => {
  it.each([
    ['impatient', impatient, leaseMs],
    ['patient', patient, 2 * leaseMs],
  ])('is driven alone by one that is %s, when its neighbours have ended; then they go on', async (_, name, waitMs) => {
    const world = new BusyWorld(name);
    const dueAt = await world.suspect();
    await world.start();
    await world.stream(100_000);
    const [poison, ...more] = world.callsOf('poison');
    expect(more).toEqual([]);
    expect(poison?.beside).toBe(0);
    const begun = poison?.at ?? Infinity;
    expect(begun - dueAt).toBeGreaterThan(waitMs - 1000);
    expect(begun - dueAt).toBeLessThanOrEqual(waitMs + neighbourMs);
    const meanwhile = world.calls.filter(({ at }) => at > begun && at < begun + poisonMs);
    expect(meanwhile).toEqual([]);
    await world.end();
  });

  it('holds up one engine of several', async () => {
    const world = new BusyWorld(impatient, patient);
    await world.suspect();
    await world.start();
    await world.stream(100_000);
    expect(world.callsOf('poison')).toMatchObject([{ engine: 0, beside: 0 }]);
    expect(world.longestGap(0)).toBeGreaterThan(poisonMs);
    expect(world.longestGap(1)).toBeLessThanOrEqual(neighbourMs);
    await world.end();
  });

  it('holds up nobody as long as its workflow has no place for it', async () => {
    const world = new BusyWorld(impatient);
    const holder = await world.enqueue('poisoned');
    await world.clock.advance(0);
    await world.suspect();
    await world.lease(holder, 120_000);
    await world.start();
    await world.stream(100_000);
    expect(world.callsOf('poison')).toEqual([]);
    expect(world.longestGap(0)).toBeLessThanOrEqual(neighbourMs);
    await world.stream(40_000);
    expect(world.callsOf('poison')).not.toEqual([]);
    await world.end();
  });

  it('is left to the next engine by one that stops while it waits for neighbours to end', async () => {
    const world = new BusyWorld(impatient);
    const dueAt = await world.suspect();
    await world.start();
    while (world.clock.now() < dueAt + leaseMs) await world.stream(500);
    const calls = world.calls.length;
    await world.enqueue('neighbour');
    await world.clock.advance(250);
    await world.stop();
    expect(world.calls).toHaveLength(calls);
    expect(world.callsOf('poison')).toEqual([]);
    expect((await world.storage.listRuns({ workflow: 'poisoned' })).runs).toMatchObject([{ owner: null, dueAt }]);
  });
});
