import {
  type JsonObject,
  type JsonValue,
  RunsheetError,
  isError,
  isJsonObject,
  messageOf,
  propertyOf,
  shortened,
  textOf,
  toJsonText,
} from '../common/index.js';
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

/**
 * What ends a run: it passes every `onError` and `retry`, as the abort of a scope. An error of such a name that does get
 * there was thrown by a handler, and is one like any other.
 */
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

/** So many failures beside the first are kept with it. */
const mostOthers = 100;

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
      {
        ...this.error,
        details: withDetail(this.error.details, hasCause(this.error.details) ? 'handled' : 'cause', earlier.error),
      },
      this.origins,
    );
  }

  /** This failure, the first of several, with the others in its details. */
  beside(others: readonly Failure[]): Failure {
    if (others.length === 0) return this;
    const list = others.slice(0, mostOthers).map(({ error }) => error);
    const origins = [this, ...others].flatMap((each) => each.origins);
    const details = withDetail(this.error.details, 'others', list);
    const leftOut = others.length - list.length;
    return new Failure(
      { ...this.error, details: leftOut > 0 ? { ...details, othersLeftOut: leftOut } : details },
      origins,
    );
  }
}

/** Details with one more field; what is no object to add it to moves under `value`. */
function withDetail(details: JsonValue, field: string, value: JsonValue): JsonObject {
  const base = isJsonObject(details) ? details : details === null ? {} : { value: details };
  return { ...base, [field]: value };
}

/** Longer chains are cut: they are for people to read. */
const maxCauseDepth = 8;
/** Characters of a name or a code. */
const longestName = 200;
/** Bytes of `details`, and how deep they go. */
const largestDetails = 256 * 1024;
const deepestDetails = 100;

/**
 * What a handler threw, kept: name (`code` where the name says nothing), message, code, `details`, and the
 * chain of causes; a thrown text is its message, a thrown object its details. It may be anything: it is described in
 * bounded size, and nothing about it can make that fail.
 */
export function errorFromThrown(thrown: unknown, step: string, attempt: number): RunError {
  if (isError(thrown)) {
    const { name, message, code, cause } = describeError(thrown, maxCauseDepth);
    return {
      name,
      message,
      step,
      attempt,
      details: storable(propertyOf(thrown, 'details')),
      ...(code === undefined ? {} : { code }),
      ...(cause === undefined ? {} : { cause }),
    };
  }
  const value = storable(thrown);
  if (isJsonObject(value)) {
    const code = nameIn(value.code);
    const name = nameIn(value.name) ?? code ?? 'Error';
    const message = shortened(typeof value.message === 'string' ? value.message : JSON.stringify(value));
    return { name, message, step, attempt, details: value, ...(code === undefined ? {} : { code }) };
  }
  return { name: 'Error', message: textOf(thrown), step, attempt, details: value };
}

function describeError(error: Error, depth: number): ErrorCause {
  const code = nameIn(propertyOf(error, 'code'));
  const name = nameIn(propertyOf(error, 'name'));
  const cause = propertyOf(error, 'cause');
  return {
    name: name === undefined || name === 'Error' ? (code ?? 'Error') : name,
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined || depth === 0
      ? {}
      : { cause: isError(cause) ? describeError(cause, depth - 1) : { name: 'Error', message: textOf(cause) } }),
  };
}

function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? shortened(value, longestName) : undefined;
}

/** The value if JSON can hold it, else its text: a report of an error must not fail for its details. */
function storable(value: unknown): JsonValue {
  if (value === undefined) return null;
  if (typeof value === 'string') return shortened(value);
  try {
    return toJsonText(value, largestDetails, deepestDetails).value;
  } catch (error) {
    return isTooLarge(error) ? messageOf(error) : textOf(value);
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RunsheetError && error.code === 'RS_PAYLOAD_TOO_LARGE';
}

/** What the author of a flow or handler has said is not replaced. */
function hasCause(details: JsonValue): boolean {
  return typeof details === 'object' && details !== null && !Array.isArray(details) && Object.hasOwn(details, 'cause');
}
