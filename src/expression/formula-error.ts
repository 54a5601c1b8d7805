import type { FormulaFailure } from './fault.js';

/** A text that is no formula. `start` and `end` are offsets into the text that was compiled. */
export class FormulaSyntaxError extends Error {
  constructor(
    message: string,
    readonly start: number,
    readonly end: number,
    readonly help: string,
  ) {
    super(message);
    this.name = 'FormulaSyntaxError';
  }
}

/**
 * A formula that has no value here. Its name is that of the run's failure, `ExpressionError`. The message
 * says what failed and how to mend it, and quotes the formula. `start` and `end`, where known, are
 * offsets into `formula`. `path` is the place inside the template that the formula stands in.
 */
export class FormulaError extends Error {
  readonly formula: string;
  readonly reason: FormulaFailure;
  readonly start?: number;
  readonly end?: number;
  readonly path?: string;
  /** The message without the formula and the path: for those who show these by themselves. */
  readonly detail: string;

  constructor(options: {
    formula: string;
    reason: FormulaFailure;
    detail: string;
    start?: number | undefined;
    end?: number | undefined;
    path?: string | undefined;
  }) {
    const { formula, reason, detail, start, end, path } = options;
    super(`${detail}, in the formula \`${formula}\`${path === undefined ? '' : ` of \`${path}\``}`);
    this.name = 'ExpressionError';
    this.formula = formula;
    this.reason = reason;
    this.detail = detail;
    if (start !== undefined) this.start = start;
    if (end !== undefined) this.end = end;
    if (path !== undefined) this.path = path;
  }

  /** The same error, known to have happened at this place of a template. */
  at(path: string): FormulaError {
    return new FormulaError({ ...this, path });
  }
}
