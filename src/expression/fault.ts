import type { JsonataNode } from './jsonata-tree.js';

/**
 * Why a formula has no value:
 * - `absent`: something that is needed has no value
 * - `type`: a value is of the wrong type (a condition that is not true or false, text in a sum)
 * - `limit`: it takes too long, or makes too much
 * - `not-json`: the result is nothing that JSON can hold
 * - `failed`: anything else, `$error(…)` included
 */
export type FormulaFailure = 'absent' | 'type' | 'limit' | 'not-json' | 'failed';

/** Thrown inside an evaluation; becomes a `FormulaError` once formula and place are known. */
export class Fault extends Error {
  constructor(
    readonly reason: FormulaFailure,
    message: string,
    readonly start?: number,
    readonly end?: number,
  ) {
    super(message);
    this.name = 'Fault';
  }
}

export function tooLong(what: string): Fault {
  return new Fault('limit', `${what} is longer than the 1,000,000 that a formula may make`);
}

export function tooMuch(): Fault {
  return new Fault('limit', 'the formula makes a value that is too large');
}

/** A value that is needed and not there; `explain.ts` finds out where in the formula that is. */
export class AbsentOperand extends Fault {
  constructor(
    readonly node: JsonataNode,
    /** Such as "the left side of `=`". */
    readonly role: string,
  ) {
    super('absent', `${role} is absent`);
  }
}
