import { type JsonValue, RunsheetError, shortJson } from '../../common/index.js';
import type { Definition } from '../../definition/index.js';
import { type Handler, type HandlerContext, defineHandler } from '../../handlers/index.js';
import { type JournalRow, type RunRecord, type Unit, terminalStatuses } from '../../storage/index.js';
import type { Death } from '../mortal-storage.js';
import { ItemPlaces } from '../world/item-places.js';
import { type ProcessView, type Stillness, World } from '../world/world.js';
import type { Reply } from '../flow-tests/index.js';
import { Acts, descendants, refusalName } from './acts.js';
import { CrashPoints } from './crash-points.js';
import type { TestFailure } from './failure.js';
import { type FlowToRun, answeringFlows, answeringHandler, handlersOf } from './flow-to-run.js';
import { type Observation, observe } from './observation.js';
import { ScriptedHandler, unscripted } from './scripted-handlers.js';
import type { TestCase } from './test-case.js';

/** How one run of a test went. */
export interface Simulated {
  /** The start was refused with this. */
  readonly refused?: { readonly name: string; readonly message: string };
  /** Absent where it was refused. */
  readonly observation?: Observation;
  /** Calls of handlers by the run under test, by their names; interrupted ones too. */
  readonly calls: ReadonlyMap<string, number>;
  /** Runs that it started, at any depth. */
  readonly children: readonly SimulatedChild[];
  /** What went wrong apart from what is expected of the end; where it could not go on, that alone. */
  readonly failures: readonly TestFailure[];
  /** It did not come to an end by itself. */
  readonly brokenOff: boolean;
  /** The last entry of each unit, in the order in which they were written. */
  readonly units: readonly { readonly run: RunRecord; readonly last: JournalRow | undefined }[];
  readonly places: ItemPlaces;
  /** All entries of the runs of each definition, for coverage. */
  readonly journals: readonly { readonly definition: Definition; readonly entries: readonly JournalRow[] }[];
  readonly wakeUps: number;
}

/** A child of the run under test, as far as something is expected of it. */
export interface SimulatedChild {
  readonly record: RunRecord;
  readonly observation: Observation;
  readonly calls: ReadonlyMap<string, number>;
  readonly places: ItemPlaces;
}

/**
 * Runs a test once, on the real engine, with virtual time and a storage in memory.
 *
 * @param death of the first process, beside those that the test asks for
 */
export function simulate(test: TestCase, flow: FlowToRun, death?: Death): Promise<Simulated> {
  return new Simulation(test, flow, death).run();
}

class Simulation {
  readonly #test: TestCase;
  readonly #flow: FlowToRun;
  readonly #places: ItemPlaces;
  readonly #definitions: readonly Definition[];
  /** With those that stand for children that are answered. */
  readonly #known: readonly Definition[];
  readonly #scripted: readonly ScriptedHandler[];
  readonly #crashes: CrashPoints;
  readonly #world: World;
  readonly #acts: Acts;
  /** By run, and by handler. */
  readonly #calls = new Map<string, Map<string, number>>();
  readonly #units: { run: RunRecord; last: JournalRow | undefined }[] = [];
  readonly #mistakes: TestFailure[] = [];
  readonly #runs: string[] = [];
  /** Ids of the run under test, and of those that it was resumed as. */
  readonly #own = new Set<string>();

  constructor(test: TestCase, flow: FlowToRun, death: Death | undefined) {
    this.#test = test;
    this.#flow = flow;
    this.#places = new ItemPlaces(flow.definition);
    const answered = [...test.children].filter(([, { what }]) => what !== 'real');
    const run = flow.children.filter(({ name }) => !answered.some(([workflow]) => workflow === name));
    this.#definitions = [flow.definition, ...run];
    this.#known = [...this.#definitions, ...answered.flatMap(([workflow]) => answeringFlows(workflow, flow))];
    this.#scripted = [
      ...[...test.handlers].map(([name, script]) => this.#script(name, script)),
      ...answered.map(([workflow, script]) => this.#script(answeringHandler(workflow), script)),
    ].filter((script) => script !== undefined);
    this.#crashes = new CrashPoints(test.crash === 'every' ? [] : test.crash, this.#places);
    const secrets = new Map(Object.entries(test.secrets));
    const real = this.#realHandlers();
    this.#world = new World({
      definitions: this.#known,
      started: flow.definition,
      handlers: (process) => this.#handlers(process, real),
      realHandlers: real,
      ...(test.now !== undefined && { startAt: test.now }),
      secrets: (name) => secrets.get(name),
      death: (process) => (process === 0 && death !== undefined ? death : this.#deathAtPlace()),
      downtime: () => this.#crashes.takeDowntime(),
      onCommitted: (record, unit) => this.#committed(record, unit),
    });
    this.#acts = new Acts(test, this.#places, this.#world.startedAt, (point) => {
      const written = test.crash === 'every' ? undefined : test.crash.find(({ path }) => path === point.path);
      if (written !== undefined) this.#crashes.close(written);
      this.#world.die();
    });
  }

  async run(): Promise<Simulated> {
    const world = this.#world;
    try {
      const refused = await this.#start();
      if (refused !== undefined) return { ...this.#result(), refused };
      const stillness = await this.#live();
      if (stillness?.kind === 'too-long') this.#mistakes.push(this.#tooLong(stillness.why));
      const [fault] = world.faults;
      if (fault !== undefined) throw fault;
      const observation = await observe(world, this.#runs, this.#places);
      if (this.#mistakes.length === 0) {
        this.#acts.reportLeft(observation.run.status, world);
        this.#reportPlacesLeft();
      }
      const children = await this.#children();
      return { ...this.#result(), observation, children, journals: await this.#journals() };
    } finally {
      await world.close();
    }
  }

  async #start(): Promise<Simulated['refused']> {
    try {
      const { id } = await this.#world.enqueue(this.#flow.definition.name, this.#test.input);
      this.#runs.push(id);
      return undefined;
    } catch (error) {
      if (!(error instanceof RunsheetError)) throw error;
      return { name: refusalName(error), message: error.message };
    }
  }

  /** Until the run has ended and nothing is to be done to it any more, or nothing will happen by itself. */
  async #live(): Promise<Stillness | undefined> {
    const world = this.#world;
    for (;;) {
      await world.rest();
      if (this.#mistakes.length > 0 || world.faults.length > 0) return undefined;
      const run = this.#runs.at(-1) ?? '';
      const record = await world.storage.getRun(run);
      const ended = terminalStatuses.some((status) => status === record?.status);
      const act = this.#acts.takeDue(world.clock.now(), ended);
      if (act !== undefined) {
        const resumed = await this.#acts.perform(act, world, run);
        if (resumed !== undefined) this.#runs.push(resumed);
        continue;
      }
      const nextAt = this.#acts.nextAt(ended);
      if (ended && nextAt === undefined) return undefined;
      const stillness = await world.pass(nextAt);
      if (stillness !== undefined) return stillness;
    }
  }

  #script(name: string, { what, path }: { what: 'real' | Reply | Reply[]; path: TestCase['path'] }) {
    if (what === 'real') return undefined;
    return new ScriptedHandler(name, { what, path }, this.#flow.handlers, (mistake) => this.#mistakes.push(mistake));
  }

  /** Registered handlers that are to be called, and counted. */
  #realHandlers(): Handler[] {
    const { handlers } = this.#flow;
    const real = handlersOf(this.#definitions).filter(({ name }) => {
      const script = this.#test.handlers.get(name)?.what;
      return handlers?.has(name) === true && (script === 'real' || (script === undefined && this.#test.othersReal));
    });
    return real.flatMap(({ name }) => (handlers === undefined ? [] : [this.#noted(handlers.get(name))]));
  }

  #handlers(process: ProcessView, real: readonly Handler[]): Handler[] {
    const own = this.#scripted.map((script) => this.#noted(script.inProcess(process)));
    const missing = handlersOf(this.#definitions)
      .map(({ name }) => name)
      .filter((name) => ![...own, ...real].some((handler) => handler.name === name));
    return [
      ...own,
      ...missing.map((name) => unscripted(name, (call) => this.#mistakes.push(this.#notScripted(name, call)))),
    ];
  }

  /** Counts the calls of the run under test, and lets the process die in those that the test says. */
  #noted(handler: Handler): Handler {
    const { name, ...rest } = handler;
    return defineHandler({
      name,
      ...rest,
      run: (context) => {
        this.#count(context.run.id, name);
        if (this.#own.has(context.run.id)) {
          if (this.#crashes.isReachedIn(context)) {
            this.#world.die();
            throw new Error('the process has died, and nobody hears of this');
          }
        }
        return handler.run(context);
      },
    });
  }

  #count(run: string, handler: string): void {
    const calls = this.#calls.get(run) ?? new Map<string, number>();
    this.#calls.set(run, calls.set(handler, (calls.get(handler) ?? 0) + 1));
  }

  /** Of the run under test, with those that it was resumed as. */
  #ownCalls(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const run of this.#own) {
      for (const [name, times] of this.#calls.get(run) ?? []) sums.set(name, (sums.get(name) ?? 0) + times);
    }
    return sums;
  }

  async #children(): Promise<SimulatedChild[]> {
    if (this.#test.expect.refused !== undefined || this.#test.expect.children === undefined) return [];
    const world = this.#world;
    const records = (await Promise.all(this.#runs.map((run) => descendants(world, run)))).flat();
    const children: SimulatedChild[] = [];
    for (const record of records) {
      // Of one that was put in line and never begun nothing can be seen.
      const definition = this.#known.find(({ hash }) => hash === record.definitionHash);
      if (definition === undefined) continue;
      const places = new ItemPlaces(definition);
      const observation = await observe(world, [record.id], places);
      children.push({ record, observation, calls: this.#calls.get(record.id) ?? new Map(), places });
    }
    return children;
  }

  #deathAtPlace(): Death {
    return {
      afterUnits: (unit) => this.#world.recordOf(unit.run)?.parentId === null && this.#crashes.isReachedBy(unit),
    };
  }

  #committed(run: RunRecord, unit: Unit): void {
    this.#units.push({ run, last: unit.entries.at(-1) });
    // Children have parents; there are no other runs.
    if (run.parentId !== null) return;
    this.#own.add(run.id);
    this.#acts.look(unit.entries, this.#world.clock.now());
  }

  #notScripted(name: string, { step, run, input, forwardIdempotencyKey }: HandlerContext<unknown>): TestFailure {
    const item = forwardIdempotencyKey === undefined ? step.key : `${step.key}:compensate`;
    const place = run.workflow === this.#flow.definition.name ? item : `${item} of ${run.workflow}`;
    const isWanted = this.#test.othersReal || this.#test.handlers.get(name)?.what === 'real';
    const path = this.#test.handlers.get(name)?.path ?? this.#test.path;
    if (isWanted) {
      return {
        path,
        message: `${place} calls the handler ${name}, which is to be real, but no such handler is registered`,
        help: 'say where the handlers are by --handlers, or script it',
      };
    }
    return {
      path,
      message: `${place} calls the handler ${name}, which is not scripted, with ${shortJson((input ?? null) as JsonValue)}`,
      help: `say under \`handlers\` how it answers:\n  ${name}: { returns: { … } }\nor let all that are not scripted run by \`handlers: real\``,
    };
  }

  #tooLong(why: string): TestFailure {
    return { path: this.#test.path, message: `the run does not come to an end: ${why}` };
  }

  #reportPlacesLeft(): void {
    for (const { what, path } of this.#crashes.left) {
      if (path[0] === 'defaults') continue;
      // Of one at a time it is said as of anything else that was to be done.
      if ('at' in what && what.at !== undefined) continue;
      const message =
        'after' in what && what.after !== undefined
          ? `the process was to die after ${what.after}, which was never over`
          : `the process was to die during ${'during' in what ? what.during : ''}, which never began`;
      this.#acts.failures.push({ path, message });
    }
  }

  #result() {
    const brokenOff = this.#mistakes.length > 0;
    return {
      calls: this.#ownCalls(),
      children: [],
      failures: brokenOff ? this.#mistakes.slice(0, 1) : this.#acts.failures,
      brokenOff,
      units: this.#units,
      places: this.#places,
      journals: [],
      wakeUps: this.#world.wakeUps,
    };
  }

  async #journals(): Promise<Simulated['journals']> {
    const journals: { definition: Definition; entries: readonly JournalRow[] }[] = [];
    for (const run of new Set(this.#units.map(({ run }) => run.run))) {
      const hash = this.#world.recordOf(run)?.definitionHash;
      const definition = this.#definitions.find((one) => one.hash === hash);
      if (definition === undefined) continue;
      journals.push({ definition, entries: await this.#world.storage.readJournal(run, 0, Number.MAX_SAFE_INTEGER) });
    }
    return journals;
  }
}
