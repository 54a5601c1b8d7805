import { propertyOf } from '../common/index.js';

/** What all errors that a handler throws on purpose can carry. */
/** `Name` narrows the names to those that a handler declares: `NonRetryableError<(typeof errors)[number]>`. */
export interface HandlerErrorOptions<Name extends string = string> extends ErrorOptions {
  /** The name that `errors`, `exceptErrors` and `onError` of a flow see; default: the class's own. */
  readonly name?: Name;
  /** Plain JSON for the flow: `$error.details`. */
  readonly details?: unknown;
}

/*
 * The two classes are told by a mark and not by `instanceof`: a handler file may be loaded with
 * another copy of this module than the engine's (the CLI loads TypeScript through jiti).
 */
const nonRetryableMark = Symbol.for('runsheet.error.nonRetryable');
const noEffectMark = Symbol.for('runsheet.error.noEffect');

/**
 * Thrown by a handler where another attempt cannot help. No retry policy overrides it; `onError` sees it.
 *
 *     throw new NonRetryableError(`no customer ${id}`, { name: 'UnknownCustomer' });
 */
export class NonRetryableError<Name extends string = string> extends Error {
  declare readonly details?: unknown;

  constructor(message: string, options: HandlerErrorOptions<Name> = {}) {
    super(message, options);
    this.name = options.name ?? 'NonRetryableError';
    if (options.details !== undefined) this.details = options.details;
    Object.defineProperty(this, nonRetryableMark, { value: true });
  }
}

/**
 * Thrown by a handler that knows for certain that this call changed nothing outside, so that its
 * step owes no compensation. It is retried like any other error.
 */
export class NoEffectError<Name extends string = string> extends Error {
  declare readonly details?: unknown;

  constructor(message: string, options: HandlerErrorOptions<Name> = {}) {
    super(message, options);
    this.name = options.name ?? 'NoEffectError';
    if (options.details !== undefined) this.details = options.details;
    markNoEffect(this);
  }
}

/** Makes any error say that its call changed nothing outside. */
export function markNoEffect<E extends Error>(error: E): E {
  return Object.defineProperty(error, noEffectMark, { value: true });
}

const isMarked = (thrown: unknown, mark: symbol): boolean => propertyOf(thrown, mark) === true;

export const isNonRetryable = (thrown: unknown): boolean => isMarked(thrown, nonRetryableMark);

export const isNoEffect = (thrown: unknown): boolean => isMarked(thrown, noEffectMark);
