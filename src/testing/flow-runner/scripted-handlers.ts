import { type JsonValue, parseDuration, shortJson } from '../../common/index.js';
import { type Formula, FormulaError, compileFormula, evaluateCondition } from '../../expression/index.js';
import {
  type Handler,
  type HandlerContext,
  type HandlerRegistry,
  NonRetryableError,
  defineHandler,
  markNoEffect,
  parseOutput,
} from '../../handlers/index.js';
import type { Path } from '../../syntax/index.js';
import type { ProcessView } from '../world/world.js';
import type { Reply, Throws } from '../flow-tests/index.js';
import type { TestFailure } from './failure.js';

/** A handler that answers as a test says. It outlives the processes that call it. */
export class ScriptedHandler {
  readonly #name: string;
  readonly #replies: readonly { readonly reply: Reply; readonly path: Path; readonly when: Formula | undefined }[];
  readonly #real: Handler | undefined;
  readonly #onMistake: (mistake: TestFailure) => void;
  /** Which entry of those without `when` answers a call; by run, key and attempt, so that a repeated call uses up nothing. */
  readonly #taken = new Map<string, number>();

  constructor(
    name: string,
    { what, path }: { what: Reply | readonly Reply[]; path: Path },
    registered: HandlerRegistry | undefined,
    onMistake: (mistake: TestFailure) => void,
  ) {
    this.#name = name;
    const list = isList(what);
    this.#replies = (list ? what : [what]).map((reply, index) => ({
      reply,
      path: list ? [...path, index] : path,
      when: reply.when === undefined ? undefined : compileFormula(String(reply.when)),
    }));
    this.#real = registered?.has(name) === true ? registered.get(name) : undefined;
    this.#onMistake = onMistake;
  }

  /** The handler as one process has it. The registered one's schemas hold for it too. */
  inProcess({ clock }: ProcessView): Handler {
    const { input, output, errors } = this.#real ?? {};
    return defineHandler({
      name: this.#name,
      ...(input && { input }),
      ...(output && { output }),
      ...(errors && { errors }),
      run: async (context) => {
        const { reply, path } = await this.#replyTo(context);
        if (reply.takes !== undefined) await timeGoesBy(parseDuration(reply.takes), clock, context.signal);
        if (reply.throws !== undefined) throw errorOf(reply.throws);
        return this.#accepted(reply.returns, path);
      },
    });
  }

  async #replyTo(context: HandlerContext<unknown>): Promise<{ readonly reply: Reply; readonly path: Path }> {
    const input = context.input as JsonValue | undefined;
    for (const entry of this.#replies) {
      if (entry.when !== undefined && (await this.#fits(entry.when, entry.path, input))) return entry;
    }
    const others = this.#replies.filter(({ when }) => when === undefined);
    const call = `${context.run.id}:${context.idempotencyKey}:${context.attempt}`;
    const index = this.#taken.get(call) ?? this.#taken.size;
    this.#taken.set(call, index);
    const entry = others[Math.min(index, others.length - 1)];
    if (entry !== undefined) return entry;
    return this.#fail({
      path: this.#replies[0]?.path ?? [],
      message: `no answer of ${this.#name} fits a call of ${context.step.key} with ${shortJson(input ?? null)}`,
      help: 'add an entry without `when`, last in the list, for all other calls',
    });
  }

  async #fits(formula: Formula, path: Path, input: JsonValue | undefined): Promise<boolean> {
    const bindings = {
      variable: (name: string) => (name === 'input' ? (input ?? null) : undefined),
      step: () => undefined,
      stepIds: () => [],
    };
    try {
      return await evaluateCondition(formula, bindings, { now: 0, random: () => 0 });
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      const message = `this condition fails for a call with ${shortJson(input ?? null)}: ${error.message}`;
      return this.#fail({ path: [...path, 'when'], message });
    }
  }

  #accepted(returns: JsonValue | undefined, path: Path): JsonValue | undefined {
    const value = returns === undefined ? undefined : structuredClone(returns);
    if (this.#real === undefined) return value;
    const parsed = parseOutput(this.#real, value);
    if (parsed.ok) return value;
    const problems = parsed.problems.map(({ path: at, message }) => (at === '' ? message : `${at}: ${message}`));
    return this.#fail({
      path: returns === undefined ? path : [...path, 'returns'],
      message: `the handler ${this.#name} could not give this: ${problems.join('; ')}`,
      help: 'the registered handler has a schema of its output; answer with a value that fits it',
    });
  }

  #fail(mistake: TestFailure): never {
    this.#onMistake(mistake);
    throw new NonRetryableError(mistake.message, { name: 'TestMistake' });
  }
}

/** A handler that nobody has scripted: its first call is the end of the test. */
export function unscripted(name: string, onCalled: (context: HandlerContext<unknown>) => void): Handler {
  return defineHandler({
    name,
    run: (context) => {
      onCalled(context);
      throw new NonRetryableError(`${name} is not scripted`, { name: 'TestMistake' });
    },
  });
}

function isList(what: Reply | readonly Reply[]): what is readonly Reply[] {
  return Array.isArray(what);
}

/** As a handler that listens to its signal: one that is told to end does so at once. */
function timeGoesBy(ms: number, clock: ProcessView['clock'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(ms, resolve);
    signal.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    });
  });
}

/** The error as a handler would throw it; what the engine asks of it is not only its name. */
function errorOf({ name, message = name, code, details, noEffect, nonRetryable }: Throws): Error {
  const options = { name, ...(details !== undefined && { details }) };
  const isFinal = nonRetryable === true || name === 'NonRetryableError';
  const error = isFinal
    ? new NonRetryableError(message, options)
    : Object.assign(new Error(message), { name }, details === undefined ? {} : { details });
  if (code !== undefined) Object.assign(error, { code });
  return noEffect === true || name === 'NoEffectError' ? markNoEffect(error) : error;
}
