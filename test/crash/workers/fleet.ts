import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RunRow, WatchedDatabase } from './watched-database.js';
import { type WorkerOrder, WorkerProcess } from './worker-process.js';

export interface FleetOptions {
  readonly order: Omit<WorkerOrder, 'name'>;
  readonly database: WatchedDatabase;
  readonly workers: number;
  readonly random: () => number;
  /** What time it is for the workers. */
  readonly now: () => number;
  /** How long a frozen worker stays so. */
  readonly freezeMs: number;
}

export interface Casualties {
  readonly killed: number;
  readonly frozen: number;
  /** Runs that were taken from a frozen worker while it was frozen. */
  readonly takenFromFrozen: number;
  /** Runs that `recover` took over, and how often its count was compared with the rows exactly. */
  readonly recovered: number;
  readonly exactCounts: number;
}

/**
 * Worker processes on one database, of which one after the other is killed and replaced, while another is
 * frozen beyond its leases and goes on.
 */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #casualties = { killed: 0, frozen: 0, takenFromFrozen: 0, recovered: 0, exactCounts: 0 };
  /** All that live, also those that are frozen or have not begun to work. */
  readonly #alive = new Set<WorkerProcess>();
  readonly #atWork = new Set<WorkerProcess>();
  readonly #all: WorkerProcess[] = [];
  readonly #replacements = new Set<Promise<void>>();
  #begun = 0;
  #frozen: WorkerProcess | undefined;
  /** Kills and recoveries come one after the other, so that what a recovery has to find is known. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#add()));
  }

  /** Kills one worker every `everyMs` and lets a new one take its place. */
  async harass(forMs: number, everyMs: number): Promise<Casualties> {
    const end = performance.now() + forMs;
    const freezing = this.#freezeAgainAndAgain(end);
    for (let next = performance.now() + everyMs; next < end; next += everyMs) {
      await delay(Math.max(0, next - performance.now()));
      await this.#inTurn(() => this.#killOne());
      if (this.#failure !== undefined) break;
    }
    await freezing;
    await Promise.all(this.#replacements);
    if (this.#failure !== undefined) throw this.#failure;
    return this.#casualties;
  }

  /** All workers stop in order. */
  async end(): Promise<void> {
    await Promise.all([...this.#atWork].map((worker) => worker.end()));
    expect(this.#all.flatMap(({ faults }) => faults)).toEqual([]);
  }

  /** Owners by the names of their workers. */
  get owners(): ReadonlyMap<string, string> {
    return new Map(this.#all.map(({ name, owner }) => [name, owner]));
  }

  async #add(): Promise<void> {
    const worker = await WorkerProcess.begin({ ...this.#options.order, name: `worker ${(this.#begun += 1)}` });
    this.#all.push(worker);
    this.#alive.add(worker);
    await this.#inTurn(async () => {
      await this.#recover(worker);
      await worker.ask('start');
      this.#atWork.add(worker);
    });
  }

  async #killOne(): Promise<void> {
    const candidates = [...this.#atWork].filter((worker) => worker !== this.#frozen);
    const victim = candidates[Math.floor(this.#options.random() * candidates.length)];
    // Where processes are slow to begin, the last ones are left to do some work.
    if (victim === undefined || candidates.length < 2) return;
    this.#atWork.delete(victim);
    await victim.kill();
    this.#alive.delete(victim);
    this.#casualties.killed += 1;
    const replacement = this.#add()
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => this.#replacements.delete(replacement));
    this.#replacements.add(replacement);
  }

  /** Compares what a recovery says with what the rows said just before. */
  async #recover(worker: WorkerProcess): Promise<void> {
    const before = this.#leasedToTheDead();
    const { running, compensating, waiting, total, orphans, definitionMissing } = await worker.ask('recover');
    const now = this.#options.now();
    // A lease that has expired meanwhile may have been claimed by somebody else before the recovery came to it.
    const certain = before.filter(({ leaseExpiresAt }) => (leaseExpiresAt ?? 0) > now);
    const split = (rows: readonly RunRow[]) => {
      const unwinding = rows.filter(({ status }) => status === 'compensating').length;
      return { running: rows.length - unwinding, compensating: unwinding };
    };
    const [most, least] = [split(before), split(certain)];
    if (certain.length === before.length) {
      expect({ running, compensating }).toEqual(most);
      this.#casualties.exactCounts += 1;
    }
    expect(running).toBeGreaterThanOrEqual(least.running);
    expect(running).toBeLessThanOrEqual(most.running);
    expect(compensating).toBeGreaterThanOrEqual(least.compensating);
    expect(compensating).toBeLessThanOrEqual(most.compensating);
    expect({ waiting, total, orphans, definitionMissing }).toEqual({
      waiting: 0,
      total: running + compensating,
      orphans: [],
      definitionMissing: [],
    });
    expect(this.#leasedToTheDead().filter(({ leaseExpiresAt }) => (leaseExpiresAt ?? 0) > now)).toEqual([]);
    this.#casualties.recovered += total;
  }

  #leasedToTheDead(): RunRow[] {
    const living = new Set([...this.#alive].map(({ owner }) => owner));
    return this.#options.database.leased().filter(({ owner }) => owner !== null && !living.has(owner));
  }

  async #freezeAgainAndAgain(end: number): Promise<void> {
    const { database, freezeMs } = this.#options;
    while (performance.now() + freezeMs < end && this.#failure === undefined) {
      const held = new Set(database.leased().map(({ owner }) => owner));
      const worker = [...this.#atWork].find(({ owner }) => held.has(owner));
      if (worker === undefined) {
        await delay(20);
        continue;
      }
      this.#frozen = worker;
      worker.freeze();
      const before = database.leased().filter(({ owner }) => owner === worker.owner);
      await delay(freezeMs);
      const after = new Map(database.runs().map((row) => [row.run, row]));
      worker.thaw();
      this.#frozen = undefined;
      const taken = before.filter(({ run, epoch }) => (after.get(run)?.epoch ?? 0) > epoch);
      this.#casualties.frozen += 1;
      this.#casualties.takenFromFrozen += taken.length;
      // It may be killed now; the next one to be frozen is another.
      await delay(500);
    }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(act);
    this.#turn = result.catch((error: unknown) => void (this.#failure ??= error));
    return result;
  }
}
