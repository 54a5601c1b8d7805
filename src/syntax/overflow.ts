import type { Diagnostic } from './diagnostic.js';
import { limits } from './limits.js';
import type { Range } from './source.js';

/** Thrown where a file has more mistakes than are told, so that nothing more is looked for. */
export class TooManyDiagnostics extends Error {
  constructor(readonly range: Range) {
    super(`more than ${limits.diagnostics} mistakes`);
  }
}

/** Says from where on a file is not checked. */
export function overflow(range: Range): Diagnostic {
  return {
    code: 'RS1035',
    severity: 'error',
    message: `the file has more than ${limits.diagnostics} mistakes: from here on it was not checked`,
    range,
    help: 'mend those above and check it again',
  };
}

/** Says of a file that it could not be checked at all. A fault in one file must not hide what is said of the others. */
export function uncheckable(error: unknown): Diagnostic {
  const isTooDeep = error instanceof RangeError;
  const reason = error instanceof Error ? error.message : String(error);
  return {
    code: 'RS1035',
    severity: 'error',
    message: isTooDeep ? 'the file is nested too deeply to be checked' : `the file could not be checked: ${reason}`,
    range: { start: 0, end: 0 },
    help: isTooDeep
      ? 'move a part into a workflow of its own'
      : 'please report this with the file: the checker should have said what is wrong',
  };
}

/** Those that are told: where there are more, the last one says so. */
export function capped(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const next = diagnostics[limits.diagnostics];
  if (next === undefined) return [...diagnostics];
  return [...diagnostics.slice(0, limits.diagnostics), overflow(next.range)];
}
