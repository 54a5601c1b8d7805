import { type JsonValue, isJsonObject, toJsonText } from '../common/index.js';
import type { Place } from './port.js';

/** Why something failed, as formulas see it (`$error`) and as it is stored. A type, so that it is a `JsonValue`. */
export type RunError = {
  readonly name: string;
  readonly message: string;
  /** Key of the item that failed; null where it was the run itself. */
  readonly step: string | null;
  /** The attempt that failed last; null where there was none. */
  readonly attempt: number | null;
  readonly details: JsonValue;
  readonly code?: string;
  readonly cause?: ErrorCause;
};

export type ErrorCause = {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly cause?: ErrorCause;
};

/** Names of errors that the language itself raises. */
export type LanguageErrorName =
  | 'Timeout'
  | 'ValidationError'
  | 'ExpressionError'
  | 'LoopLimitExceeded'
  | 'WaitTimeout'
  | 'JoinFailed'
  | 'ChildFailed'
  | 'RunTimeout'
  | 'SerializationError'
  | 'PayloadTooLarge'
  | 'SecretMissing'
  | 'Interrupted'
  | 'Cancelled';

/** Seen by no `onError` and no `retry`. */
export const uncatchable: ReadonlySet<string> = new Set(['Cancelled', 'RunTimeout']);

/** What the definition, not chance, made fail: another attempt would fail in the same way. */
export const neverRetried: ReadonlySet<string> = new Set([
  'ValidationError',
  'ExpressionError',
  'SerializationError',
  'PayloadTooLarge',
  'SecretMissing',
  ...uncatchable,
]);

export function languageError(
  name: LanguageErrorName,
  message: string,
  place: { step: string | null; attempt?: number | null; details?: JsonValue },
): RunError {
  return { name, message, step: place.step, attempt: place.attempt ?? null, details: place.details ?? null };
}

/** A failure on its way up through the walk of a flow, until an `onError` takes it or the run fails. */
export class Failure extends Error {
  /**
   * @param origins what has failed of itself: several where side by side several did. Empty while a value is computed:
   *   whoever records it knows its place
   */
  constructor(
    readonly error: RunError,
    readonly origins: readonly Place[] = [],
  ) {
    super(error.message);
    this.name = error.name;
  }

  /** This failure, which took the place of an earlier one, with that in its details. */
  causedBy(earlier: Failure): Failure {
    return new Failure(
      { ...this.error, details: withDetail(this.error.details, 'cause', earlier.error) },
      this.origins,
    );
  }

  /** This failure, the first of several, with the others in its details. */
  beside(others: readonly Failure[]): Failure {
    if (others.length === 0) return this;
    const list = others.map(({ error }) => error);
    const origins = [this, ...others].flatMap((each) => each.origins);
    return new Failure({ ...this.error, details: withDetail(this.error.details, 'others', list) }, origins);
  }
}

/** Details with one more field; what is no object to add it to moves under `value`. */
function withDetail(details: JsonValue, field: string, value: JsonValue): JsonValue {
  const base = isJsonObject(details) ? details : details === null ? {} : { value: details };
  return { ...base, [field]: value };
}

/** Longer chains are cut: they are for people to read. */
const maxCauseDepth = 8;

/**
 * What a handler threw, kept: name (`code` where the name says nothing), message, code, `details`, and the
 * chain of causes; a thrown text is its message, a thrown object its details.
 */
export function errorFromThrown(thrown: unknown, step: string, attempt: number): RunError {
  if (thrown instanceof Error) {
    const { name, message, code, cause } = describeError(thrown, maxCauseDepth);
    return {
      name,
      message,
      step,
      attempt,
      details: 'details' in thrown ? storable(thrown.details) : null,
      ...(code === undefined ? {} : { code }),
      ...(cause === undefined ? {} : { cause }),
    };
  }
  const value = storable(thrown);
  if (isJsonObject(value)) {
    const code = typeof value.code === 'string' ? value.code : undefined;
    const name = typeof value.name === 'string' ? value.name : (code ?? 'Error');
    const message = typeof value.message === 'string' ? value.message : JSON.stringify(value);
    return { name, message, step, attempt, details: value, ...(code === undefined ? {} : { code }) };
  }
  return { name: 'Error', message: String(thrown), step, attempt, details: value };
}

function describeError(error: Error, depth: number): ErrorCause {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const named = error.name !== 'Error' && error.name !== '';
  return {
    name: named ? error.name : (code ?? 'Error'),
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined || depth === 0
      ? {}
      : {
          cause:
            error.cause instanceof Error
              ? describeError(error.cause, depth - 1)
              : { name: 'Error', message: String(error.cause) },
        }),
  };
}

/** The value if JSON can hold it, else its text: a report of an error must not fail for its details. */
function storable(value: unknown): JsonValue {
  if (value === undefined) return null;
  try {
    return toJsonText(value).value;
  } catch {
    return String(value);
  }
}
