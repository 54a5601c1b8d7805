import { type JsonText, type JsonValue, RunsheetError, isError, shortened, toJsonText } from '../common/index.js';
import type { SecretReference } from '../definition/index.js';
import {
  type Handler,
  type HandlerContext,
  type SchemaProblem,
  isNoEffect,
  isNonRetryable,
  parseInput,
  parseOutput,
} from '../handlers/index.js';
import type { AttemptAbort } from './attempt-abort.js';
import type { Services } from './frame.js';
import type { AttemptOutcome } from './port.js';
import { Failure, type RunError, errorFromThrown, languageError } from './run-error.js';
import { type CallSecrets, readSecrets } from './secrets.js';

/** One call of a handler: everything it is given, and the limits it is held to. */
export interface AttemptCallSpec {
  readonly handler: Handler;
  readonly step: string;
  readonly occurrence: string;
  readonly attempt: number;
  /** As resolved and journaled; absent where the step has no `with`. */
  readonly input: JsonText | undefined;
  /** Where in the input the values of secrets are to be put. */
  readonly secrets: readonly SecretReference[];
  readonly idempotencyKey: string;
  readonly timeoutMs: number | undefined;
  /** Where the call undoes a step. */
  readonly reversal: ReversalFacts | undefined;
}

/** What the handler of a reversal is told beside its input. */
export interface ReversalFacts {
  /** Output of the forward step; null where it failed or its outcome is unknown. */
  readonly result: JsonValue;
  readonly forwardIdempotencyKey: string;
  /** What the forward step failed with, if it did. */
  readonly error: RunError | null;
}

/**
 * Calls a handler once and turns whatever comes of it into an outcome; it never throws. A handler
 * that overruns its time-out is told so by its signal and left behind: its late result is refused.
 */
export async function callHandler(
  services: Services,
  spec: AttemptCallSpec,
  abort: AttemptAbort,
): Promise<AttemptOutcome> {
  const { handler, step, attempt } = spec;
  let given: GivenInput;
  try {
    given = parseStepInput(services, spec);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Before the first attempt this was already checked; now it may be another deployment's handler that refuses.
    return { ok: false, error: { ...error.error, attempt }, final: true, effect: attempt === 1 ? 'none' : 'unknown' };
  }
  const { secrets } = given;
  let outcome: AttemptOutcome;
  try {
    const returned = await withinTime(services, spec, abort, async () =>
      handler.run(contextOf(services, spec, given, abort)),
    );
    outcome = { ok: true, value: storableOutput(services, handler, step, attempt, returned) };
  } catch (thrown) {
    outcome = failureOutcome(thrown, step, attempt);
  }
  return secrets === undefined ? outcome : secrets.masked(outcome, services.logger);
}

export interface GivenInput {
  readonly value: unknown;
  /** Undefined where the flow gives the handler none. */
  readonly secrets: CallSecrets | undefined;
}

/**
 * The handler's input: secrets put in, parsed by its schema.
 *
 * @throws Failure `SecretMissing` or `ValidationError`
 */
export function parseStepInput(
  services: Services,
  { handler, step, input, secrets: references }: Pick<AttemptCallSpec, 'handler' | 'step' | 'input' | 'secrets'>,
): GivenInput {
  const secrets = readSecrets(references, services.secret, step);
  const value = input?.copy();
  const parsed = parseInput(handler, value !== undefined && secrets !== undefined ? secrets.putInto(value) : value);
  if (parsed.ok) return { value: parsed.value, secrets };
  const { error } = validationFailure(`the input of ${handler.name}`, parsed.problems, step);
  throw new Failure(secrets === undefined ? error : secrets.maskedError(error));
}

function contextOf(
  services: Services,
  spec: AttemptCallSpec,
  { value, secrets }: GivenInput,
  abort: AttemptAbort,
): HandlerContext<unknown> {
  const { id, key, workflow, revision } = services.context.meta;
  return {
    input: value,
    run: { id, key, workflow, revision },
    step: { key: spec.step, occurrence: spec.occurrence },
    attempt: spec.attempt,
    idempotencyKey: spec.idempotencyKey,
    ...spec.reversal,
    get signal() {
      return abort.signal;
    },
    logger: secrets === undefined ? services.logger : secrets.logger(services.logger),
  };
}

/** What the call comes to, or its time-out, whichever is first; the later one is ignored. */
function withinTime(
  { clock }: Services,
  { step, attempt, timeoutMs }: AttemptCallSpec,
  abort: AttemptAbort,
  call: () => Promise<unknown>,
): Promise<unknown> {
  if (timeoutMs === undefined) return call();
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => {
      const error = new Failure(
        languageError('Timeout', `${step} did not end within ${timeoutMs} ms`, { step, attempt }),
      );
      abort.abort(error);
      reject(error);
    });
    call().then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}

/** What the handler returned, parsed and as JSON; nothing where it returned nothing. */
function storableOutput(
  services: Services,
  handler: Handler,
  step: string,
  attempt: number,
  returned: unknown,
): JsonText | undefined {
  const parsed = parseOutput(handler, returned);
  if (!parsed.ok) throw validationFailure(`what ${handler.name} returned`, parsed.problems, step);
  if (parsed.value === undefined) return undefined;
  try {
    return toJsonText(parsed.value, services.maxPayloadBytes);
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    const name = error.code === 'RS_PAYLOAD_TOO_LARGE' ? 'PayloadTooLarge' : 'SerializationError';
    throw new Failure(languageError(name, `what ${handler.name} returned: ${error.message}`, { step, attempt }));
  }
}

function validationFailure(what: string, problems: readonly SchemaProblem[], step: string): Failure {
  const details: JsonValue = { problems: problems.map(({ path, message }) => ({ path, message })) };
  return new Failure(
    languageError('ValidationError', shortened(`${what} is not valid: ${textOf(problems)}`), { step, details }),
  );
}

/** Fields as the handler's author wrote them, each with the words of its schema. */
function textOf(problems: readonly SchemaProblem[]): string {
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

function failureOutcome(thrown: unknown, step: string, attempt: number): AttemptOutcome {
  if (isError(thrown) && thrown instanceof Failure) return { ok: false, error: { ...thrown.error, attempt } };
  return {
    ok: false,
    error: errorFromThrown(thrown, step, attempt),
    ...(isNonRetryable(thrown) && { final: true }),
    ...(isNoEffect(thrown) && { effect: 'none' as const }),
  };
}
