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
  /** Runs that `recover` took over, and how often its count, not zero, was compared with the rows exactly. */
  readonly recovered: number;
  readonly exactCounts: number;
}

const spareWorkers = 2;

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
  /** Have begun and wait for a place, so that a replacement is there at once. */
  readonly #spares: WorkerProcess[] = [];
  readonly #beginning = new Set<Promise<void>>();
  #begun = 0;
  #frozen: WorkerProcess | undefined;
  /** Kills and recoveries come one after the other, so that what a recovery has to find is known. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    const { workers } = this.#options;
    await Promise.all(Array.from({ length: workers + spareWorkers }, () => this.#beginSpare()));
    for (const spare of this.#spares.splice(0, workers)) await this.#inTurn(() => this.#employ(spare));
    this.#throwFailure();
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
    await Promise.all(this.#beginning);
    this.#throwFailure();
    return this.#casualties;
  }

  /** All workers stop in order. */
  async end(): Promise<void> {
    await Promise.all([...this.#atWork, ...this.#spares].map((worker) => worker.end()));
    expect(this.#all.flatMap(({ faults }) => faults)).toEqual([]);
  }

  /** Owners by the names of their workers. */
  get owners(): ReadonlyMap<string, string> {
    return new Map(this.#all.map(({ name, owner }) => [name, owner]));
  }

  async #beginSpare(): Promise<void> {
    const worker = await WorkerProcess.begin({ ...this.#options.order, name: `worker ${(this.#begun += 1)}` });
    this.#all.push(worker);
    this.#alive.add(worker);
    this.#spares.push(worker);
  }

  async #employ(worker: WorkerProcess): Promise<void> {
    await this.#recover(worker);
    await worker.ask('start');
    this.#atWork.add(worker);
  }

  /** Not where the processes to come are slow to begin. */
  async #killOne(): Promise<void> {
    const candidates = [...this.#atWork].filter((worker) => worker !== this.#frozen);
    const { database, random } = this.#options;
    const driving = new Set(database.leased().map(({ owner }) => owner));
    const busy = candidates.filter(({ owner }) => driving.has(owner));
    const choice = busy.length > 0 ? busy : candidates;
    const victim = choice[Math.floor(random() * choice.length)];
    const replacement = this.#spares[0];
    if (victim === undefined || replacement === undefined) return;
    this.#spares.shift();
    this.#atWork.delete(victim);
    await victim.kill();
    this.#alive.delete(victim);
    this.#casualties.killed += 1;
    await this.#employ(replacement);
    const beginning = this.#beginSpare()
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => this.#beginning.delete(beginning));
    this.#beginning.add(beginning);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
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
      if (before.length > 0) this.#casualties.exactCounts += 1;
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
    const begun = performance.now();
    const { takenFromFrozen } = this.#casualties;
    // Where everything is slow, what was frozen may have had nothing that was worth taking.
    const latest = (): number => (this.#casualties.takenFromFrozen > takenFromFrozen ? end : 2 * end - begun);
    while (performance.now() + freezeMs < latest() && this.#failure === undefined) {
      const held = new Set(database.leased().map(({ owner }) => owner));
      const worker = [...this.#atWork].find(({ owner }) => held.has(owner));
      if (worker === undefined) {
        await delay(20);
        continue;
      }
      this.#frozen = worker;
      worker.freeze();
      const before = database.leased().filter(({ owner }) => owner === worker.owner);
      if (before.length < 2) {
        // It has just parked what it held: nothing would be taken from it.
        worker.thaw();
        this.#frozen = undefined;
        await delay(10);
        continue;
      }
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
