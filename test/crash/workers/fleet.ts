import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Release, RunRow, WatchedDatabase } from './watched-database.js';
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
  /** How many were killed, and how many of those drove something. */
  readonly killed: number;
  readonly killedAtWork: number;
  readonly frozen: number;
  /** Runs that were taken from a frozen worker while it was frozen. */
  readonly takenFromFrozen: number;
  /** Runs that `recover` took over, and how often it took, at once, all that the dead had left, which was not nothing. */
  readonly recovered: number;
  readonly exactCounts: number;
}

export interface Harassment {
  /** Kills come this often, by the clock, for so long. */
  readonly everyMs: number;
  readonly forMs: number;
  /** It goes on after that until as much as this has happened, whatever the machine is busy with. */
  readonly least: Casualties;
  /** Then it ends all the same. */
  readonly patienceMs: number;
}

/** Have begun and wait, so that a replacement is there at once. */
const spareWorkers = 6;

/**
 * Worker processes on one database, of which one after the other is killed and replaced, while another is
 * frozen beyond its leases and goes on.
 */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #casualties = {
    killed: 0,
    killedAtWork: 0,
    frozen: 0,
    takenFromFrozen: 0,
    recovered: 0,
    exactCounts: 0,
  };
  /** All that live, also those that are frozen or have not begun to work. */
  readonly #alive = new Set<WorkerProcess>();
  readonly #atWork = new Set<WorkerProcess>();
  readonly #all: WorkerProcess[] = [];
  readonly #spares: WorkerProcess[] = [];
  readonly #beginning = new Set<Promise<void>>();
  #begun = 0;
  #frozen: WorkerProcess | undefined;
  #isOver = false;
  /** Kills, freezes and recoveries come one after the other, so that what a recovery has to find is known. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    this.#beginSpares(this.#options.workers + spareWorkers);
    await Promise.all(this.#beginning);
    await this.#inTurn(() => this.#fillPlaces());
    this.#throwFailure();
  }

  /** Kills one worker every `everyMs`, whatever the others are doing, and lets a new one take its place. */
  async harass({ everyMs, forMs, least, patienceMs }: Harassment): Promise<Casualties> {
    const begun = performance.now();
    const freezing = this.#freezeAgainAndAgain();
    const passed = (): number => performance.now() - begun;
    const hasAll = (): boolean => countsOf(least).every(([what, count]) => this.#casualties[what] >= count);
    for (let at = everyMs; this.#failure === undefined; at += everyMs) {
      // Late where the turn was somebody else's; then the next one comes the sooner, but none after the time is over.
      if (at > forMs && (hasAll() || passed() > patienceMs)) break;
      await delay(at > forMs ? everyMs : Math.max(0, at - passed()));
      await this.#inTurn(() => this.#killOne());
      void this.#inTurn(() => this.#fillPlaces());
    }
    this.#isOver = true;
    await freezing;
    await this.#turn;
    await Promise.all(this.#beginning);
    // Where none had begun in time, a place may have been left empty.
    await this.#inTurn(() => this.#fillPlaces());
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

  #beginSpares(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const beginning = this.#beginSpare()
        .catch((error: unknown) => void (this.#failure ??= error))
        .finally(() => this.#beginning.delete(beginning));
      this.#beginning.add(beginning);
    }
  }

  async #beginSpare(): Promise<void> {
    const worker = await WorkerProcess.begin({ ...this.#options.order, name: `worker ${(this.#begun += 1)}` });
    this.#all.push(worker);
    this.#alive.add(worker);
    this.#spares.push(worker);
  }

  async #fillPlaces(): Promise<void> {
    while (this.#atWork.size < this.#options.workers) {
      const spare = this.#spares.shift();
      if (spare === undefined) return;
      await this.#recover(spare);
      await spare.ask('start');
      this.#atWork.add(spare);
      this.#beginSpares(spareWorkers - this.#spares.length - this.#beginning.size);
    }
  }

  async #killOne(): Promise<void> {
    const candidates = [...this.#atWork].filter((worker) => worker !== this.#frozen);
    const { database, random } = this.#options;
    const driving = new Set(database.leased().map(({ owner }) => owner));
    const busy = candidates.filter(({ owner }) => driving.has(owner));
    const choice = busy.length > 0 ? busy : candidates;
    const victim = choice[Math.floor(random() * choice.length)];
    if (victim === undefined) return;
    this.#atWork.delete(victim);
    await victim.kill();
    this.#alive.delete(victim);
    this.#casualties.killed += 1;
    if (busy.length > 0) this.#casualties.killedAtWork += 1;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Compares what a recovery says with what the rows say was taken from the dead. */
  async #recover(worker: WorkerProcess): Promise<void> {
    const { database, now } = this.#options;
    const known = database.countReleases();
    const { running, compensating, waiting, total, orphans, definitionMissing } = await worker.ask('recover');
    const at = now();
    // One that is at work may have noticed a death by itself, and be about to write what follows from it.
    await expect
      .poll(() => this.#leasedToTheDead().filter(({ leaseExpiresAt }) => (leaseExpiresAt ?? 0) > at))
      .toEqual([]);
    const own = await worker.ask('released');
    const unwinding = own.filter(({ status }) => status === 'compensating').length;
    expect({ running, compensating, waiting, total, orphans, definitionMissing }).toEqual({
      running: own.length - unwinding,
      compensating: unwinding,
      waiting: 0,
      total: own.length,
      orphans: [],
      definitionMissing: [],
    });
    const released = database.releases(known);
    expect(released.map(({ id, status }) => ({ id, status }))).toEqual(expect.arrayContaining(own));
    // Of those whose lease had expired only what the recovery itself names was released from the dead for certain.
    const certain = released.filter(({ expired }) => expired === 0).map(({ id, status }) => ({ id, status }));
    expect(certain, 'no run is released twice').toHaveLength(new Set(certain.map(({ id }) => id)).size);
    const byOthers = certain.filter(({ id }) => !own.some((run) => run.id === id));
    if (byOthers.length > 0) await expect.poll(() => this.#releasedAtWork()).toEqual(expect.arrayContaining(byOthers));
    else if (own.length > 0) this.#casualties.exactCounts += 1;
    this.#casualties.recovered += total;
  }

  /** What those at work have taken from the dead by themselves. */
  async #releasedAtWork(): Promise<Release[]> {
    const others = [...this.#atWork].filter((other) => other !== this.#frozen);
    return (await Promise.all(others.map((other) => other.ask('released')))).flat();
  }

  #leasedToTheDead(): RunRow[] {
    const living = new Set([...this.#alive].map(({ owner }) => owner));
    return this.#options.database.leased().filter(({ owner }) => owner !== null && !living.has(owner));
  }

  async #freezeAgainAndAgain(): Promise<void> {
    const { database, freezeMs } = this.#options;
    while (!this.#isOver && this.#failure === undefined) {
      const before = await this.#inTurn(() => this.#freezeOne());
      if (before === undefined) {
        await delay(20);
        continue;
      }
      await delay(freezeMs);
      const after = new Map(database.runs().map((row) => [row.run, row]));
      this.#thaw();
      const taken = before.filter(({ run, epoch }) => (after.get(run)?.epoch ?? 0) > epoch);
      this.#casualties.frozen += 1;
      this.#casualties.takenFromFrozen += taken.length;
      // It may be killed now; the next one to be frozen is another.
      await delay(500);
    }
  }

  /** Freezes who drives most, and gives what that is; undefined where none drives enough. */
  async #freezeOne(): Promise<RunRow[] | undefined> {
    const { database } = this.#options;
    const heldBy = ({ owner }: WorkerProcess): RunRow[] => database.leased().filter((row) => row.owner === owner);
    const [worker] = [...this.#atWork].sort((a, b) => heldBy(b).length - heldBy(a).length);
    if (worker === undefined || heldBy(worker).length < 2) return undefined;
    this.#frozen = worker;
    worker.freeze();
    const before = heldBy(worker);
    if (before.length >= 2) return before;
    // It has just parked what it held: nothing would be taken from it.
    this.#thaw();
    return undefined;
  }

  #thaw(): void {
    this.#frozen?.thaw();
    this.#frozen = undefined;
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T | undefined> {
    const result = this.#turn.then(act).catch((error: unknown) => void (this.#failure ??= error));
    this.#turn = result;
    return result as Promise<T | undefined>;
  }
}

export function countsOf(casualties: Casualties): [keyof Casualties, number][] {
  return Object.entries(casualties) as [keyof Casualties, number][];
}
