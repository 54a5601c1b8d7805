import { RunsheetError } from '../common/index.js';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.js';
import type { Io } from './io.js';
import { propose, say } from './terminal-text.js';

/** Why a command cannot do what it was asked; the message says what to do instead. */
export class CommandFailure extends Error {
  /** Commands that would do it, to be filled in and copied. */
  readonly next: readonly string[];
  /** More about it, each a line below the message. */
  readonly details: readonly string[];

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    {
      next = [],
      details = [],
      ...options
    }: ErrorOptions & { readonly next?: readonly string[]; readonly details?: readonly string[] } = {},
  ) {
    super(message, options);
    this.name = 'CommandFailure';
    this.next = next;
    this.details = details;
  }
}

/** Says on stderr what went wrong; the stack, and what caused it, only if asked for. */
export function reportFailure(error: unknown, { verbose }: { verbose: boolean }, io: Io): ExitCode {
  const known = error instanceof CommandFailure || error instanceof RunsheetError;
  const message = error instanceof Error ? error.message : String(error);
  if (message !== '') {
    const [first = '', ...rest] = linesOf(error, message);
    [`error: ${first}`, ...rest].forEach((line) => say(io, line));
    if (!known) io.err('  This should not happen; --verbose shows where it did.\n');
  }
  if (error instanceof CommandFailure) propose(io, error.next);
  if (verbose) io.err(`${stackOf(error)}\n`);
  if (error instanceof CommandFailure) return error.exitCode;
  return error instanceof RunsheetError ? exitCodeOf[error.code] : exitCodes.failed;
}

/**
 * What this program writes over several lines (mistakes of a config, handlers that cannot be loaded) keeps them; in a
 * message of anybody else a line break is part of what it is about.
 */
function linesOf(error: unknown, message: string): string[] {
  if (error instanceof CommandFailure) return [message, ...error.details];
  const isList = error instanceof RunsheetError && error.code.startsWith('RS_HANDLER_');
  return isList ? message.split('\n') : [message];
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\ncaused by: ${stackOf(error.cause)}`;
}

/** The `code` of an error of the file system. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
