import type { DiagnosticCode } from './diagnostic-codes.js';
import type { Range } from './source.js';

export type Severity = 'error' | 'warning';

/** One mistake found in a file. A value: turning it into text is the last step (`render.ts`). */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** What is wrong, naming it; one sentence, no full stop. */
  readonly message: string;
  /** The wrong words alone. */
  readonly range: Range;
  /** How to mend it. */
  readonly help: string;
}

/** The order in which diagnostics are told: by where they begin, at one place the shorter first. */
export function byPlace(left: Diagnostic, right: Diagnostic): number {
  return left.range.start - right.range.start || left.range.end - right.range.end;
}
