import { FormulaSyntaxError } from './formula-error.js';
import { limits } from './limits.js';
import type { Token } from './lexer.js';

const help = 'give a part of it a name in a `set`, and read that';

/** What stands between two commas of one pair of brackets. */
interface Level {
  /** Operators of the part at hand. */
  operators: number;
  /** The deepest pair of brackets in the part at hand. */
  inner: number;
  /** The deepest part so far. */
  deepest: number;
}

/**
 * Refuses a formula whose tree would be too deep to be walked, before it is parsed: each operator and each pair of
 * brackets may nest what stands beside it, whichever way it binds.
 *
 * @throws FormulaSyntaxError
 */
export function refuseDepth(tokens: readonly Token[], offset: number): void {
  const many = tokens[limits.tokens];
  if (many !== undefined) {
    throw at(many, offset, `the formula has more than ${limits.tokens} words and signs`);
  }
  const levels: Level[] = [{ operators: 0, inner: 0, deepest: 0 }];
  for (const token of tokens) {
    const level = levels[levels.length - 1];
    if (level === undefined || token.kind !== 'operator') continue;
    if ('([{'.includes(token.text)) {
      if (levels.length > limits.formulaDepth) throw at(token, offset, tooDeep);
      levels.push({ operators: 0, inner: 0, deepest: 0 });
    } else if (')]}'.includes(token.text)) {
      if (levels.length === 1) return;
      levels.pop();
      const outer = levels[levels.length - 1];
      if (outer !== undefined) outer.inner = Math.max(outer.inner, depthOf(level) + 1);
    } else if (token.text === ',' || token.text === ';') {
      level.deepest = depthOf(level);
      level.operators = 0;
      level.inner = 0;
    } else level.operators += 1;
    const top = levels[levels.length - 1];
    if (top !== undefined && levels.length + depthOf(top) > limits.formulaDepth) throw at(token, offset, tooDeep);
  }
}

const tooDeep = `the formula has more than ${limits.formulaDepth} operators and brackets inside one another`;

function depthOf({ operators, inner, deepest }: Level): number {
  return Math.max(deepest, operators + inner);
}

function at({ start, end }: Token, offset: number, message: string): FormulaSyntaxError {
  return new FormulaSyntaxError(message, offset + start, offset + Math.min(end, start + 100), help);
}
