import { isDeepStrictEqual } from 'node:util';
import {
  type Engine,
  type Handler,
  type JsonObject,
  type JsonValue,
  MemoryStorage,
  type Run,
  type Storage,
  createEngine,
} from 'runsheet';
import { type Death, VirtualClock, mortal } from 'runsheet/testing';
import { expect } from 'vitest';
import type { Definition } from '../../src/definition/index.js';
import type { JournalRow, Unit } from '../../src/storage/index.js';
import { HandlersAtWork } from '../../src/testing/handlers-at-work.js';
import { ProcessClock } from '../../src/testing/process-clock.js';

/** A run that processes are killed over. */
export interface Scenario {
  /** The run's own, then those of its children. */
  readonly definitions: readonly [Definition, ...Definition[]];
  /** Fresh ones for each way to die, with whatever they keep outside. */
  readonly handlers: () => readonly Handler[];
  readonly input: JsonObject;
  /** What people do to the run, each once, right after such an entry is in a journal. */
  readonly acts?: readonly Act[];
}

export interface Act {
  readonly after: Partial<Pick<JournalRow, 'kind' | 'step' | 'occurrence'>>;
  readonly act: (engine: Engine, runId: string) => Promise<unknown>;
}

export interface Call {
  readonly key: string;
  readonly attempt: number;
  readonly input: JsonValue;
}

/** The operations of one walk, and how many of them had been issued when its last unit was committed. */
interface Walk {
  readonly operations: string[];
  durable: number;
}

export interface Survived {
  readonly run: Run;
  readonly calls: readonly Call[];
  /** `<step>#<occurrence>:forward` and `…:compensate` of what was recorded as done, in that order, children included. */
  readonly done: readonly string[];
  /** Commits of all lives together. */
  readonly units: number;
}

/**
 * Drives a run in one process after the other, each of which dies as it is told, the last one not at all.
 * Whatever was killed when: what is recorded as done is not done again, calls are repeated only under their
 * old key and with their old input, each reversal has one outcome, they go in reverse order of start, and
 * every walk issues the same operations in the same order as far as an earlier one is known.
 */
export async function survive(scenario: Scenario, deaths: readonly Death[]): Promise<Survived> {
  const world = new World(scenario);
  for (const death of deaths) if ((await world.live(death)) !== undefined) break;
  const run = await world.live({ afterUnits: Number.POSITIVE_INFINITY });
  if (run === undefined) throw new Error('the last process has died');
  world.checkCalls();
  world.compareWalks();
  await world.checkUnwinds();
  return { run, calls: world.calls, done: world.done, units: world.units };
}

/** Everything that outlives the processes of one run. */
class World {
  readonly calls: Call[] = [];
  readonly done: string[] = [];
  units = 0;
  readonly #scenario: Scenario;
  readonly #storage = new MemoryStorage();
  readonly #clock = new VirtualClock();
  readonly #work = new HandlersAtWork();
  readonly #handlers: readonly Handler[];
  /** Of each run, by its id. */
  readonly #walks = new Map<string, Walk[]>();
  /** Ids by the storage's numbers. */
  readonly #ids = new Map<number, string>();
  /** Keys whose success is in a journal. */
  readonly #completed = new Set<string>();
  readonly #acted = new Set<Act>();
  readonly #violations: string[] = [];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#handlers = scenario.handlers();
  }

  /** Drives the run in one process until it ends, or the process dies (undefined). */
  async live(death: Death): Promise<Run | undefined> {
    const { definitions, input } = this.#scenario;
    const { storage, died } = mortal(this.#watched(), death);
    const clock = new ProcessClock(this.#clock);
    let alive = true;
    void died.then(() => {
      alive = false;
      clock.stop();
    });
    const engine = createEngine({
      storage,
      definitions,
      clock,
      handlers: this.#work.watch(this.#handlers.map((handler) => this.#recorded(handler, () => alive))),
      onOperation: (id, operation) => {
        const walks = this.#walks.get(id) ?? [];
        this.#walks.set(id, walks);
        if (operation === 'walk') walks.push({ operations: [], durable: 0 });
        else walks.at(-1)?.operations.push(operation);
      },
    });
    await engine.start();
    // Once it has looked around, an engine begins a run with its first unit; before, it is claimed like any other.
    await this.#clock.rest();
    const ended = engine.enqueue(definitions[0].name, input, { key: 'the one' }).then(({ id }) => engine.result(id));
    const run = await this.#work.until(this.#clock, Promise.race([ended, died.then(() => undefined)]));
    alive = false;
    if (run !== undefined) await engine.stop();
    return run;
  }

  compareWalks(): void {
    for (const walks of this.#walks.values()) {
      let known: Walk = { operations: [], durable: 0 };
      for (const walk of walks) {
        const prefix = Math.min(known.durable, walk.operations.length);
        expect(walk.operations.slice(0, prefix)).toEqual(known.operations.slice(0, prefix));
        if (walk.durable >= known.durable) known = walk;
      }
    }
  }

  checkCalls(): void {
    expect(this.#violations).toEqual([]);
  }

  async checkUnwinds(): Promise<void> {
    for (const [run, id] of this.#ids) {
      const journal = await this.#storage.readJournal(run, 0, 100_000);
      const placesOf = (...kinds: string[]): string[] =>
        journal.filter(({ kind }) => kinds.includes(kind)).map(({ step, occurrence }) => `${step}#${occurrence}`);
      const settled = placesOf('compensation-completed', 'compensation-skipped');
      expect(settled, `${id} has two outcomes of one reversal`).toEqual([...new Set(settled)]);
      const begun = [...new Set(placesOf('step-started'))];
      const undone = [...new Set(placesOf('compensation-started'))];
      expect(undone, `${id} is not undone in reverse order of start`).toEqual(
        begun.filter((place) => undone.includes(place)).reverse(),
      );
    }
  }

  /** The storage, with an eye on what is committed. */
  #watched(): Storage {
    const storage: Storage = this.#storage;
    const commitUnits: Storage['commitUnits'] = async (units, options) => {
      this.units += 1;
      // What is issued while the commit is under way belongs to the next one.
      const issued = units.map(({ run }) => this.#walkOf(run)?.operations.length ?? 0);
      const results = await storage.commitUnits(units, options);
      for (const [index, unit] of units.entries()) {
        if (results[index] === 'committed') await this.#committed(unit, issued[index] ?? 0);
      }
      return results;
    };
    const claimRuns: Storage['claimRuns'] = async (claim) => {
      const claimed = await storage.claimRuns(claim);
      for (const { run, id } of claimed) this.#ids.set(run, id);
      return claimed;
    };
    const startRun: Storage['startRun'] = async (run, claim, first) => {
      this.units += 1;
      const issued = this.#walks.get(run.id)?.at(-1)?.operations.length ?? 0;
      const started = await storage.startRun(run, claim, first);
      const { claimed } = started;
      if (claimed !== undefined) this.#ids.set(claimed.run, claimed.id);
      if (claimed?.id === run.id) await this.#committed({ run: claimed.run, ...first }, issued);
      return started;
    };
    return new Proxy<Storage>(storage, {
      get(target, property) {
        if (property === 'commitUnits') return commitUnits;
        if (property === 'claimRuns') return claimRuns;
        if (property === 'startRun') return startRun;
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  #walkOf(run: number): Walk | undefined {
    return this.#walks.get(this.#ids.get(run) ?? '')?.at(-1);
  }

  async #committed({ run, entries }: Pick<Unit, 'run' | 'entries'>, issued: number): Promise<void> {
    const id = this.#ids.get(run) ?? '';
    const walk = this.#walkOf(run);
    if (walk !== undefined) walk.durable = issued;
    for (const entry of entries) {
      const { kind, step, occurrence } = entry;
      const direction = { 'step-completed': 'forward', 'compensation-completed': 'compensate' }[kind];
      if (direction !== undefined) {
        this.#completed.add(`${id}:${step}#${occurrence}:${direction}`);
        this.done.push(`${step}#${occurrence}:${direction}`);
      }
      for (const act of this.#scenario.acts ?? []) {
        if (this.#acted.has(act) || !fits(entry, act.after)) continue;
        this.#acted.add(act);
        await act.act(createEngine({ storage: this.#storage, clock: this.#clock }), id);
      }
    }
  }

  #recorded(handler: Handler, alive: () => boolean): Handler {
    return {
      ...handler,
      run: (context) => {
        if (alive()) this.#record(context.idempotencyKey, context.attempt, context.input as JsonValue);
        return handler.run(context);
      },
    };
  }

  #record(key: string, attempt: number, input: JsonValue): void {
    // Not thrown: that would be a failure of the step, which the flow might handle.
    if (this.#completed.has(key)) this.#violations.push(`${key} is called again after it had succeeded`);
    const earlier = this.calls.find((call) => call.key === key);
    if (earlier !== undefined && !isDeepStrictEqual(earlier.input, input)) {
      this.#violations.push(`${key} is repeated with another input`);
    }
    this.calls.push({ key, attempt, input });
  }
}

function fits(entry: JournalRow, after: Act['after']): boolean {
  return Object.entries(after).every(([field, value]) => entry[field as keyof JournalRow] === value);
}

/** Every commit of a run in turn, before and after it is written. */
export function everyDeath(units: number): Death[] {
  return Array.from({ length: units }, (_, index) => index + 1).flatMap((afterUnits) => [
    { afterUnits, lastIsWritten: true },
    { afterUnits, lastIsWritten: false },
  ]);
}
