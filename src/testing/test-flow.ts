import { z } from 'zod';
import { type JsonValue, RunsheetError, checkOptions, nearest, parseDuration, placeText } from '../common/index.js';
import type { Definition } from '../definition/index.js';
import type { CancelOptions, Run } from '../engine/index.js';
import { type Handler, type HandlerContext, HandlerRegistry, defineHandler } from '../handlers/index.js';
import { terminalStatuses } from '../storage/index.js';
import { CrashPoints } from './flow-runner/crash-points.js';
import { type Observation, observe } from './flow-runner/observation.js';
import { ScriptedHandler } from './flow-runner/scripted-handlers.js';
import type { CrashAt, CrashPoint, Reply } from './flow-tests/index.js';
import { ItemPlaces } from './world/item-places.js';
import { type ProcessView, World } from './world/world.js';

/** How a handler answers in a test: as in a file of flow tests, or by a function. */
export type ScriptedAnswer = Reply | readonly Reply[] | ((context: HandlerContext<JsonValue | undefined>) => unknown);

export interface TestFlowOptions {
  /** The flow and those that it may start as children, as `loadDefinitions` gives them. */
  readonly definitions: readonly Definition[];
  /** The flow under test. Default: the first of the definitions. */
  readonly workflow?: string;
  /** By name: answers, for which virtual time goes by; functions must not wait for anything outside. */
  readonly handlers?: Readonly<Record<string, ScriptedAnswer>>;
  /** Handlers that really do something; time stands still while one of them is at work. */
  readonly realHandlers?: readonly Handler[];
  readonly input?: JsonValue;
  readonly key?: string;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Where the process dies: the run is then taken over by another one. `crash()` does it at any moment. */
  readonly crashes?: readonly Exclude<CrashPoint, CrashAt>[];
  /** Epoch milliseconds. Default: 2030-01-01T00:00:00Z. */
  readonly startAt?: number;
}

const object = z.custom<object>((value) => typeof value === 'object' && value !== null, 'must be an object');

const optionsSchema = z.object({
  options: z.strictObject({
    definitions: z.array(object).min(1, 'must hold the flow under test'),
    workflow: z.string().optional(),
    handlers: z.record(z.string(), z.unknown()).optional(),
    realHandlers: z.array(object).optional(),
    input: z.unknown().optional(),
    key: z.string().optional(),
    secrets: z.record(z.string(), z.string()).optional(),
    crashes: z.array(object).optional(),
    startAt: z.number().optional(),
  }),
});
const passSchema = z.object({ time: z.union([z.number().min(0), z.string()]) });
const signalSchema = z.object({ options: z.strictObject({ to: z.string().optional() }) });

function flowOf({ definitions, workflow }: TestFlowOptions): Definition {
  const flow = workflow === undefined ? definitions[0] : definitions.find(({ name }) => name === workflow);
  if (flow !== undefined) return flow;
  const names = definitions.map(({ name }) => name);
  const meant = nearest(workflow ?? '', names);
  const remedy = meant === undefined ? `there are ${names.join(', ')}` : `did you mean "${meant}"?`;
  throw new RunsheetError('RS_OPTIONS_INVALID', `testFlow: no workflow "${workflow}" among the definitions; ${remedy}`);
}

/** A call of a handler, interrupted ones too. */
export interface HandlerCall {
  readonly handler: string;
  readonly run: string;
  /** Key of the item, with its turn (`pick#2`). */
  readonly place: string;
  readonly input: unknown;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Virtual milliseconds since the start. */
  readonly atMs: number;
}

/**
 * Starts a run of a flow in virtual time, for tests written in TypeScript. Nothing happens but what the test lets happen:
 * time moves by `pass` and `result` alone.
 *
 *     const flow = await testFlow({ definitions: [order], handlers: { 'payments.charge': { returns: { id: 'p-1' } } } });
 *     await flow.pass('14h');
 *     await flow.signal('approve', { approved: true });
 *     expect(await flow.result()).toMatchObject({ status: 'completed' });
 *     await flow.close();
 *
 * @throws RunsheetError `RS_INPUT_INVALID`, `RS_HANDLER_UNKNOWN` naming the first handler without an answer
 */
export async function testFlow(options: TestFlowOptions): Promise<FlowInTest> {
  const flow = new FlowInTest(options);
  await flow.start();
  return flow;
}

/** A run under test. */
export class FlowInTest {
  /** In the order in which they began; of children too. */
  readonly calls: HandlerCall[] = [];
  readonly #options: TestFlowOptions;
  readonly #flow: Definition;
  readonly #world: World;
  readonly #places: ItemPlaces;
  readonly #crashes: CrashPoints;
  readonly #runs: string[] = [];
  /** What a script could not answer. */
  #mistake: Error | undefined;

  /** @internal use `testFlow` */
  constructor(options: TestFlowOptions) {
    checkOptions('testFlow', optionsSchema, { options });
    const { definitions, handlers = {}, realHandlers = [], secrets = {}, crashes = [], startAt } = options;
    this.#options = options;
    this.#flow = flowOf(options);
    this.#places = new ItemPlaces(this.#flow);
    this.#crashes = new CrashPoints(
      crashes.map((what, index) => ({ what, path: ['crashes', index] })),
      this.#places,
    );
    const registered = new HandlerRegistry(realHandlers);
    const scripts = Object.entries(handlers).map(([name, answer]) => ({
      name,
      script:
        typeof answer === 'function'
          ? answer
          : new ScriptedHandler(name, { what: answer, path: ['handlers', name] }, registered, (mistake) => {
              this.#mistake ??= new Error(mistake.message);
            }),
    }));
    const scripted = (process: ProcessView): Handler[] =>
      scripts.map(({ name, script }) =>
        this.#noted(
          script instanceof ScriptedHandler ? script.inProcess(process) : defineHandler({ name, run: script }),
        ),
      );
    this.#world = new World({
      definitions,
      handlers: scripted,
      realHandlers: realHandlers.filter(({ name }) => !Object.hasOwn(handlers, name)).map((each) => this.#noted(each)),
      secrets: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
      death: () => ({
        afterUnits: (unit) => this.#world.recordOf(unit.run)?.parentId === null && this.#crashes.isReachedBy(unit),
      }),
      downtime: () => this.#crashes.takeDowntime(),
      ...(startAt !== undefined && { startAt }),
    });
  }

  /** @internal */
  async start(): Promise<void> {
    const { input = {}, key } = this.#options;
    const { id } = await this.#world.enqueue(this.#flow.name, input, key === undefined ? {} : { key });
    this.#runs.push(id);
    await this.#rest();
  }

  /** Id of the run; of the new one once it was resumed. */
  get id(): string {
    return this.#runs.at(-1) ?? '';
  }

  /** Virtual milliseconds since the start. */
  get elapsedMs(): number {
    return this.#world.clock.now() - this.#world.startedAt;
  }

  /** The run as it is now. */
  run(): Promise<Run> {
    return this.#world.desk.getRun(this.id);
  }

  /** Lets so much virtual time go by: milliseconds, or a duration such as `14h`. */
  async pass(time: number | string): Promise<void> {
    checkOptions('pass', passSchema, { time });
    const until = this.#world.clock.now() + (typeof time === 'number' ? time : parseDuration(time));
    while (this.#world.clock.now() < until) {
      const stillness = await this.#world.pass(until);
      if (stillness?.kind === 'too-long') throw new Error(`the run does not come to an end: ${stillness.why}`);
      await this.#rest();
    }
  }

  /**
   * Moves time on until the run has ended.
   *
   * @throws RunsheetError `RS_RESULT_TIMEOUT` where nothing will move it on, saying in which state it is
   */
  async result(): Promise<Run> {
    for (;;) {
      await this.#rest();
      const run = await this.run();
      if (terminalStatuses.some((status) => status === run.status)) return run;
      const stillness = await this.#world.pass();
      if (stillness === undefined) continue;
      const why = stillness.kind === 'too-long' ? stillness.why : 'no timer, signal or child will move it on';
      throw new RunsheetError('RS_RESULT_TIMEOUT', `the run is ${run.status} and does not end: ${why}`);
    }
  }

  /** Sends a signal to the run, or to one of its children by id. @throws as `Engine.signal` */
  async signal(name: string, payload: JsonValue = null, options: { to?: string } = {}): Promise<void> {
    checkOptions('signal', signalSchema, { options });
    const { to = this.id } = options;
    await this.#world.desk.signal(to, name, payload);
    await this.#rest();
  }

  /** @throws as `Engine.cancel` */
  async cancel(options: CancelOptions = {}): Promise<void> {
    await this.#world.cancel(this.id, options);
    await this.#rest();
  }

  /** Goes on with the failed run as a new one. @throws as `Engine.resume` */
  async resume(): Promise<void> {
    const { id } = await this.#world.desk.resume(this.id);
    this.#runs.push(id);
    await this.#rest();
  }

  /** Decides about an unwind that is stuck. @throws `RS_RUN_NOT_STUCK` */
  async compensation(verdict: 'resume' | 'abandon'): Promise<void> {
    const { desk } = this.#world;
    await (verdict === 'resume' ? desk.resumeCompensation(this.id) : desk.abandonCompensation(this.id));
    await this.#rest();
  }

  /** The process dies here and now, whatever it is doing, and another one takes the run over. */
  async crash(): Promise<void> {
    this.#world.die();
    await this.#rest();
  }

  /** Items that have begun, containers too, in their order: `charge`, `pick#2`, `mail.send@3.0`. */
  async ran(): Promise<string[]> {
    const { began } = await this.#observe();
    return began.map(({ key, occurrence }) => placeText(key, occurrence));
  }

  /** Items that were undone, in this order. */
  async compensated(): Promise<string[]> {
    const { undone } = await this.#observe();
    return undone.map(({ key, occurrence }) => placeText(key, occurrence));
  }

  /** Ends the test. A run that goes on is left where it is. */
  close(): Promise<void> {
    return this.#world.close();
  }

  #observe(): Promise<Observation> {
    return observe(this.#world, this.#runs, this.#places);
  }

  async #rest(): Promise<void> {
    await this.#world.rest();
    const [fault] = this.#world.faults;
    if (fault !== undefined) throw fault;
    if (this.#mistake !== undefined) throw this.#mistake;
  }

  #noted(handler: Handler): Handler {
    return defineHandler({
      ...handler,
      run: (context) => {
        const { run, step, input, attempt, idempotencyKey } = context;
        const place = placeText(step.key, step.occurrence);
        const atMs = this.elapsedMs;
        this.calls.push({ handler: handler.name, run: run.id, place, input, attempt, idempotencyKey, atMs });
        const isOwn = run.workflow === this.#flow.name;
        if (isOwn && this.#crashes.isReachedIn(context)) {
          this.#world.die();
          throw new Error('the process has died, and nobody hears of this');
        }
        return handler.run(context);
      },
    });
  }
}
