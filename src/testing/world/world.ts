import { createHash } from 'node:crypto';
import { type Clock, type JsonValue, durationText, placeText } from '../../common/index.js';
import type { Definition } from '../../definition/index.js';
import { type CancelOptions, type Engine, type EnqueueOptions, type Run, createEngine } from '../../engine/index.js';
import type { Handler } from '../../handlers/index.js';
import {
  type Lease,
  MemoryStorage,
  type Resumption,
  type RunRecord,
  type Storage,
  type Unit,
} from '../../storage/index.js';
import { HandlersAtWork } from '../handlers-at-work.js';
import { type Death, type Mortal, mortal } from '../mortal-storage.js';
import { ProcessClock } from '../process-clock.js';
import { VirtualClock, eventLoopRound } from '../virtual-clock.js';

/** What a handler that is made for a test may know of the process that calls it. */
export interface ProcessView {
  /** Its timers end with it. */
  readonly clock: Clock;
  /** Ends the process at once, as a power cut would; the next one takes its runs over. */
  die(): void;
}

export interface WorldOptions {
  readonly definitions: readonly Definition[];
  /** What runs are of that are started from outside; default: the newest definition of that name. */
  readonly started?: Definition;
  /** Those of one process. Time goes by while they are called. */
  readonly handlers: (process: ProcessView) => readonly Handler[];
  /** Handlers that really do something: time stands still while one of them is at work. */
  readonly realHandlers?: readonly Handler[];
  /** Epoch milliseconds. Default 2030-01-01T00:00:00Z. */
  readonly startAt?: number;
  readonly secrets?: (name: string) => string | undefined;
  /** When the process of this number, counted from 0, dies by itself; undefined lives on. */
  readonly death?: (process: number) => Death | undefined;
  /** Asked when a process dies: for how many milliseconds there is no other one. Default 0. */
  readonly downtime?: () => number;
  /** Told of each unit once it is written, in whichever process. */
  readonly onCommitted?: (run: RunRecord, unit: Unit) => void;
}

/** Why a world stands still for good. `too-long`: nobody has the time to see its end; the text says why. */
export type Stillness = { readonly kind: 'nothing-due' } | { readonly kind: 'too-long'; readonly why: string };

const years = 365 * 86_400_000;
/** Longer than anything that may lie ahead of a test, so that no heartbeat ever costs a turn. */
const leaseMs = 300 * years;
/** Bounds of one test: what goes on longer is a loop without an end. */
const longestMs = 100 * years;
const mostWakeUps = 1_000_000;
const mostEntries = 300_000;
/** Of all entries together: a loop may write little often, or much. */
const mostBytes = 200_000_000;
const longestWorkMs = 60_000;

interface Process extends ProcessView {
  readonly engine: Engine;
  readonly handlers: readonly Handler[];
  readonly mortal: Mortal;
  readonly clock: ProcessClock;
  readonly leases: Map<number, Lease>;
  owner: string | undefined;
  dead: boolean;
}

/**
 * A storage in memory, virtual time, and processes that die over it one after the other: the real engine and
 * interpreter, and nothing else. No schedule fires. Ids and random delays are the same in every world that goes the same way.
 */
export class World {
  readonly clock: VirtualClock;
  readonly storage = new MemoryStorage();
  /** What no flow is to blame for. */
  readonly faults: unknown[] = [];
  /** How often a timer was fired, and a unit was written. */
  wakeUps = 0;
  units = 0;
  readonly startedAt: number;
  readonly #options: WorldOptions;
  readonly #hashes: readonly string[];
  readonly #work = new HandlersAtWork();
  readonly #realHandlers: readonly Handler[];
  readonly #records = new Map<number, RunRecord>();
  readonly #takenOver = new Map<string, number>();
  #process: Process | undefined;
  #desk: Engine | undefined;
  #door: Engine | undefined;
  #processes = 0;
  #runs = 0;
  #entries = 0;
  #bytes = 0;
  #tooLong: string | undefined;
  /** Until then nobody takes over from the process that has died. */
  #downUntil = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.clock = new VirtualClock(options.startAt);
    this.startedAt = this.clock.now();
    this.#hashes = options.definitions.map(({ hash }) => hash);
    this.#realHandlers = this.#work.watch(options.realHandlers ?? []);
  }

  /**
   * Starts a run.
   *
   * @throws RunsheetError as `Engine.enqueue`
   */
  async enqueue(workflow: string, input: JsonValue, options: EnqueueOptions = {}): Promise<Run> {
    this.#process ??= await this.#open();
    // By one who drives nothing and does not die: the process that drives the run may, before anything of it is written.
    this.#door ??= createEngine({
      storage: this.#watched(),
      definitions: this.#options.definitions,
      handlers: this.#process.handlers,
      clock: this.clock,
      randomBytes: this.#randomBytes('door'),
    });
    return this.#door.enqueue(workflow, input, options);
  }

  /**
   * Ends a run, and what it is doing at once, as for one who cancels in the process that drives it. (Another process hears
   * of it by its next heartbeat, and in this world there are none.)
   *
   * @throws RunsheetError as `Engine.cancel`
   */
  async cancel(run: string, options: CancelOptions): Promise<void> {
    const process = this.#process;
    if (process === undefined || process.dead) return this.desk.cancel(run, options);
    let isHeard = false;
    const told = process.engine.cancel(run, options).finally(() => (isHeard = true));
    // Who dies meanwhile answers nobody.
    await Promise.race([told, process.mortal.died.then(() => (isHeard ? told : this.desk.cancel(run, options)))]);
  }

  /** An engine that drives nothing and never dies: for whoever tells runs something, or reads of them. */
  get desk(): Engine {
    this.#desk ??= createEngine({
      storage: this.#watched(),
      clock: this.clock,
      randomBytes: this.#randomBytes('desk'),
    });
    return this.#desk;
  }

  /** Run of the storage's own number, once it has been driven. */
  recordOf(run: number): RunRecord | undefined {
    return this.#records.get(run);
  }

  /** How many entries of its journal a run has from the one that it took over. */
  takenOver(id: string): number {
    return this.#takenOver.get(id) ?? 0;
  }

  #noteTakenOver({ run, entries, children = [] }: Resumption): void {
    this.#runs += 1;
    this.#takenOver.set(run.id, entries.length);
    for (const child of children) this.#noteTakenOver(child);
  }

  /** The process that lives ends at once. */
  die(): void {
    this.#process?.die();
  }

  /**
   * Lets everything happen that needs no time to go by: handlers that really work end, and where the process has
   * died another one takes over.
   */
  async rest(): Promise<void> {
    await this.clock.rest();
    for (;;) {
      if (this.#tooLong !== undefined) return;
      // What really works cannot be killed: it comes to its end, though nobody hears of it.
      if (this.#work.names.length > 0) await this.#waitForWork();
      else if (this.#process?.dead === false && !this.#process.engine.isAtRest) await eventLoopRound();
      else if (this.#process?.dead === true && !this.#isDown) await this.#takeOver(this.#process);
      else return;
      await this.clock.rest();
    }
  }

  /**
   * Moves time to when something next happens, but never past `until` (where nothing is due before, to that very time).
   *
   * @returns why nothing more will happen by itself
   */
  async pass(until = Number.POSITIVE_INFINITY): Promise<Stillness | undefined> {
    if (this.#tooLong !== undefined) return { kind: 'too-long', why: this.#tooLong };
    if (this.#isDown) return this.#passUntil(Math.min(until, this.#downUntil));
    const dueAt = await this.storage.nextDueAt(this.#hashes);
    if (dueAt === undefined && until === Number.POSITIVE_INFINITY) return { kind: 'nothing-due' };
    const { nextAt = Number.POSITIVE_INFINITY } = this.clock;
    if (Math.min(until, nextAt) === Number.POSITIVE_INFINITY) return { kind: 'nothing-due' };
    return this.#passUntil(until);
  }

  get #isDown(): boolean {
    return this.#process?.dead === true && this.clock.now() < this.#downUntil;
  }

  async #passUntil(until: number): Promise<Stillness | undefined> {
    const { nextAt = Number.POSITIVE_INFINITY } = this.clock;
    if (until <= nextAt) {
      // Whoever moves time first has the word at its end: what else is due then comes after.
      this.clock.moveTo(until);
      return undefined;
    }
    this.wakeUps += 1;
    if (nextAt - this.startedAt > longestMs) this.#tooLong ??= 'a hundred years have gone by';
    else if (this.wakeUps > mostWakeUps) this.#tooLong ??= `it was woken ${mostWakeUps} times`;
    else await this.clock.fireNext();
    return this.#tooLong === undefined ? undefined : { kind: 'too-long', why: this.#tooLong };
  }

  /** Ends all that still goes on. */
  async close(): Promise<void> {
    this.#process?.die();
    this.#process?.clock.stop();
    await this.storage.close();
  }

  async #open(): Promise<Process> {
    const { definitions, secrets, handlers, death, downtime } = this.#options;
    const view = mortal(this.#watched(), death?.(this.#processes) ?? { afterUnits: Number.POSITIVE_INFINITY });
    const clock = new ProcessClock(this.clock);
    const die = (): void => {
      if (!process.dead) this.#downUntil = this.clock.now() + (downtime?.() ?? 0);
      process.dead = true;
      view.die();
      clock.stop();
    };
    const all = [...handlers({ clock, die }), ...this.#realHandlers];
    const engine = createEngine({
      storage: view.storage,
      definitions,
      handlers: all,
      concurrency: 16,
      runLeaseDurationMs: leaseMs,
      clock,
      secrets: secrets ?? (() => undefined),
      randomBytes: this.#randomBytes(`engine ${(this.#processes += 1)}`),
    });
    const process: Process = {
      engine,
      handlers: all,
      mortal: view,
      clock,
      leases: new Map(),
      owner: undefined,
      dead: false,
      die,
    };
    this.#process = process;
    void view.died.then(die);
    engine.onFault((error) => this.faults.push(error));
    await engine.start();
    return process;
  }

  /** What the dead one held becomes due at once, as where a death can be proved, and counts as interrupted. */
  async #takeOver({ owner, leases }: Process): Promise<void> {
    const now = this.clock.now();
    if (owner !== undefined) {
      await this.storage.renewLeases(owner, [...leases.values()], now, now);
      await this.storage.unregisterEngine(owner);
    }
    await this.#open();
  }

  /** The engine's own name first, then ids of runs by their number: the same whichever process begins them. */
  #randomBytes(name: string): () => Uint8Array {
    let run = 0;
    let named = false;
    return () => {
      if (named) run = Math.max(run, this.#runs) + 1;
      const seed = named ? `run ${run}` : name;
      named = true;
      return createHash('sha256').update(seed).digest().subarray(0, 16);
    };
  }

  #watched(): Storage {
    const storage: Storage = this.storage;
    const claimRuns: Storage['claimRuns'] = async (claim) => {
      const claimed = await storage.claimRuns(claim);
      if (this.#process !== undefined) this.#process.owner = claim.owner;
      for (const record of claimed) {
        this.#records.set(record.run, record);
        this.#process?.leases.set(record.run, { run: record.run, epoch: record.epoch });
      }
      return claimed;
    };
    const commitUnits: Storage['commitUnits'] = async (units, options) => {
      const results = await storage.commitUnits(units, options);
      for (const [index, unit] of units.entries()) if (results[index] === 'committed') this.#committed(unit);
      return results;
    };
    const { started } = this.#options;
    const enqueueRun: Storage['enqueueRun'] = async (run) => {
      const of = started && { revision: started.revision, definitionHash: started.hash };
      const enqueued = await storage.enqueueRun({ ...run, ...of });
      if (enqueued.created) this.#runs += 1;
      return enqueued;
    };
    const resumeRun: Storage['resumeRun'] = async (resumption) => {
      const resumed = await storage.resumeRun(resumption);
      if (resumed === undefined) return undefined;
      this.#noteTakenOver(resumption);
      return resumed;
    };
    const registerSchedules: Storage['registerSchedules'] = () => Promise.resolve();
    const own = { claimRuns, commitUnits, enqueueRun, resumeRun, registerSchedules };
    return new Proxy<Storage>(storage, {
      get(target, property) {
        if (Object.hasOwn(own, property)) return own[property as keyof typeof own];
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  #committed(unit: Unit): void {
    this.units += 1;
    this.#runs += unit.children?.length ?? 0;
    this.#entries += unit.entries.length;
    for (const { payload } of unit.entries) this.#bytes += payload?.length ?? 0;
    if (this.#entries > mostEntries || this.#bytes > mostBytes) {
      this.#tooLong ??= this.#tooMuchWritten(unit);
      this.#process?.die();
    }
    const record = this.#records.get(unit.run);
    if (record !== undefined) this.#options.onCommitted?.(record, unit);
  }

  #tooMuchWritten({ entries }: Unit): string {
    const last = entries.findLast(({ step }) => step !== null);
    const where = last === undefined ? '' : ` (the last one by ${placeText(last.step ?? '', last.occurrence ?? '0')})`;
    const what = this.#entries > mostEntries ? `${mostEntries} entries` : `${mostBytes / 1e6} MB`;
    const elapsed = durationText(this.clock.now() - this.startedAt);
    return `more than ${what} were written in ${elapsed} of virtual time${where}; does a loop wait for nothing?`;
  }

  async #waitForWork(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<true>((resolve) => {
      timer = setTimeout(() => resolve(true), longestWorkMs);
    });
    const late = await Promise.race([this.#work.change.then(() => false as const), expired]);
    clearTimeout(timer);
    if (late)
      this.#tooLong = `the handler ${this.#work.names.join(', ')} is still at work after ${longestWorkMs / 1000} s`;
  }
}
