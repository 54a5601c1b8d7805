import { type Clock, type JsonText, type JsonValue, RunsheetError, toJsonText } from '../common/index.js';
import { type Bindings, FormulaError, type Surroundings, seededRandom } from '../expression/index.js';
import type { HandlerRegistry, Logger } from '../handlers/index.js';
import type { ValidatedInput } from '../definition/index.js';
import { Output, type OwnVariables, type StepOutputs, type Variables } from './bindings.js';
import type { Debts } from './debts.js';
import { describePlace } from './describe-place.js';
import type { Placed, Plan } from './plan.js';
import type { DurableContext, Handle, Place, RecordKind, Recorded } from './port.js';
import { Failure, type RunError, languageError } from './run-error.js';
import type { Scheduler, Source } from './scheduler.js';
import { Joinable } from './scheduler.js';
import type { Scope } from './scope.js';

/** What a walk needs beside the definition; all of it is handed in. */
export interface Services {
  readonly context: DurableContext;
  readonly scheduler: Scheduler;
  readonly plan: Plan;
  readonly handlers: HandlerRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The value of a secret, or undefined where there is none of that name. */
  readonly secret: (name: string) => string | undefined;
  readonly maxPayloadBytes: number;
  readonly children: Children;
  /** What would have to be undone if the run failed now. */
  readonly debts: Debts;
  /** What `$run.status` says. */
  readonly phase: { status: string };
}

/** The workflows that a run can start. */
export interface Children {
  /** That revision, or without one the newest that is registered; undefined where there is none. */
  resolve(workflow: string, revision: number | undefined): Promise<ChildDefinition | undefined>;
}

export interface ChildDefinition {
  readonly revision: number;
  readonly hash: string;
  validate(input: JsonValue): Promise<ValidatedInput>;
}

/**
 * Where the walk stands: which turn of which loops, what is bound there, and the scope that may be
 * aborted under it.
 */
export class Frame {
  #occurrence: string | undefined;

  constructor(
    readonly services: Services,
    readonly scope: Scope,
    readonly steps: StepOutputs,
    readonly variables: Variables,
    /** Turns of the enclosing loops, outermost first. */
    readonly turns: readonly number[],
    /**
     * Begins the idempotency keys: what a resumed run has taken over keeps those that it had, and what it takes back or
     * cannot take over (error handling that did not help, last steps, reminders) is done anew, under keys of its own.
     */
    readonly keyPrefix: string,
    /** The failure that the `onError` around here handles. */
    readonly caught?: Failure,
  ) {}

  get occurrence(): string {
    this.#occurrence ??= this.turns.length === 0 ? '0' : this.turns.join('.');
    return this.#occurrence;
  }

  place(step: string | null, aspect: string): Place {
    return { step, occurrence: this.occurrence, aspect };
  }

  /** The same place in the flow with something of it replaced. */
  with(change: {
    scope?: Scope;
    steps?: StepOutputs;
    variables?: OwnVariables;
    turn?: number;
    keyPrefix?: string;
    caught?: Failure;
  }): Frame {
    return new Frame(
      this.services,
      change.scope ?? this.scope,
      change.steps ?? this.steps,
      change.variables === undefined ? this.variables : this.variables.with(change.variables),
      change.turn === undefined ? this.turns : [...this.turns, change.turn],
      change.keyPrefix ?? this.keyPrefix,
      change.caught ?? this.caught,
    );
  }

  /** This place as it is now, to come back to when what was done here is to be undone. */
  snapshot(): Frame {
    return this.with({ steps: this.steps.snapshot() });
  }

  /**
   * Waits for the first of several sources.
   *
   * @throws ScopeAborted if the scope was aborted meanwhile.
   */
  async wait<S extends readonly Source[]>(...sources: S): Promise<S[number]> {
    const first = await this.waitThrough(...sources);
    this.scope.throwIfAborted();
    return first;
  }

  /** As `wait`, but goes on in an aborted scope: for what must be seen to its end. */
  async waitThrough<S extends readonly Source[]>(...sources: S): Promise<S[number]> {
    const handles = sources.filter((source): source is Handle<unknown> => !(source instanceof Joinable));
    this.scope.open(handles);
    const first = await this.services.scheduler.wait(sources);
    this.scope.closed(handles);
    return first;
  }

  /**
   * A value that is computed once and read back ever after.
   *
   * @throws Failure if computing it failed; that too is read back.
   */
  async decide(
    step: string | null,
    aspect: string,
    compute: () => JsonValue | undefined | Promise<JsonValue | undefined>,
  ): Promise<JsonText | undefined> {
    const toText = (value: JsonValue | undefined): JsonText | undefined =>
      value === undefined ? undefined : toJsonText(value, this.services.maxPayloadBytes);
    return this.record('decision', this.place(step, aspect), () => {
      const value = compute();
      return value instanceof Promise ? value.then(toText) : toText(value);
    });
  }

  async record(
    kind: RecordKind,
    place: Place,
    compute: () => JsonText | undefined | Promise<JsonText | undefined>,
  ): Promise<JsonText | undefined> {
    const started = this.services.context.record(kind, place, () => recordedOf(place, compute));
    const handle = started instanceof Promise ? await started : started;
    // To wait for what is ready would give up no turn, and only make promises.
    if (handle.immediate) this.scope.throwIfAborted();
    else await this.wait(handle);
    if (!handle.outcome.ok) throw new Failure(handle.outcome.error, [place]);
    return handle.outcome.value;
  }

  /**
   * What formulas at this place see. Its random numbers are a function of run and place, so that an
   * evaluation that a crash cut short comes out the same.
   */
  surroundings(step: string | null, aspect: string): Surroundings {
    let random: (() => number) | undefined;
    const seed = (): string => `${this.services.context.meta.id}:${step ?? ''}#${this.occurrence}:${aspect}`;
    return {
      now: this.services.clock.now(),
      random: () => (random ??= seededRandom(seed()))(),
    };
  }

  get bindings(): Bindings {
    return {
      variable: (name) => this.variables.get(name),
      step: (name) => this.steps.get(name)?.value,
      stepIds: () => this.steps.names(),
    };
  }

  /** Evaluates something placed; a failure says where in the file it stands. */
  evaluate<W, T>(
    placed: Placed<W>,
    step: string | null,
    aspect: string,
    how: (what: W, bindings: Bindings, surroundings: Surroundings) => T | Promise<T>,
    variables?: OwnVariables,
  ): T | Promise<T> {
    const frame = variables === undefined ? this : this.with({ variables });
    const failed = (error: unknown): never => {
      if (!(error instanceof FormulaError)) throw error;
      const where = describePlace(this.services.plan.definition, placed.path);
      throw new Failure(languageError('ExpressionError', `${where}: ${error.message}`, { step }));
    };
    try {
      const value = how(placed.what, frame.bindings, frame.surroundings(step, aspect));
      return value instanceof Promise ? value.catch(failed) : value;
    } catch (error) {
      return failed(error);
    }
  }
}

/** Makes no promise where the value is there at once, as most are: every step has one. */
function recordedOf(
  place: Place,
  compute: () => JsonText | undefined | Promise<JsonText | undefined>,
): Recorded | Promise<Recorded> {
  const failed = (error: unknown): Recorded => ({ ok: false, error: asRunError(error, place) });
  try {
    const value = compute();
    return value instanceof Promise ? value.then((value) => ({ ok: true, value }), failed) : { ok: true, value };
  } catch (error) {
    return failed(error);
  }
}

/** The output of a body: that of its last item that gave one. */
export type BodyOutput = Output | undefined;

/** What a journaled value is as the output of its item. */
export function recordedOutput(item: { key: string }, frame: Frame, value: JsonText | undefined): BodyOutput {
  return value && new Output(`${item.key}#${frame.occurrence}`, () => value.value);
}

/** An error of computing a value, as the journal keeps it; anything unforeseen is a fault and goes on up. */
function asRunError(error: unknown, place: Place): RunError {
  if (error instanceof Failure) return error.error;
  if (error instanceof RunsheetError && error.code === 'RS_PAYLOAD_TOO_LARGE') {
    return languageError('PayloadTooLarge', error.message, place);
  }
  if (error instanceof RunsheetError && error.code === 'RS_NOT_JSON') {
    return languageError('SerializationError', error.message, place);
  }
  throw error;
}
