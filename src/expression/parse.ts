import jsonata, { type Expression } from 'jsonata';

import { FormulaSyntaxError } from './formula-error.js';
import type { JsonataNode } from './jsonata-tree.js';
import { childrenOf } from './jsonata-tree.js';
import { LinearRegExp, linearPattern } from './regular-expression.js';
import { rewrite } from './rewrite.js';
import { limits } from './limits.js';
import { explainSyntaxError } from './explain-syntax.js';
import { turns } from './turn.js';

export interface Parsed {
  /** The formula without `=` and spaces around it. */
  readonly body: string;
  /** Where the body begins in the text. */
  readonly offset: number;
  readonly expression: Expression;
  readonly tree: JsonataNode;
}

/** A formula without the `=` in front, which some fields may leave out, and without spaces around it. */
export function bodyOf(text: string): { body: string; offset: number } {
  const offset = /^\s*=?\s*/.exec(text)?.[0].length ?? 0;
  return { body: text.slice(offset).trimEnd(), offset };
}

/** Regular expressions look at the clock through the evaluation whose turn it is. */
class FormulaRegExp extends LinearRegExp {
  constructor(literal: RegExp) {
    super(literal, () => turns.current?.look());
  }
}

/** Throws `FormulaSyntaxError`, with offsets into the text. */
export function parseFormula(text: string): Parsed {
  const { body, offset } = bodyOf(text);
  if (body === '') throw new FormulaSyntaxError('the formula is empty', 0, text.length);
  try {
    const expression = jsonata(body, {
      sequence: limits.length,
      RegexEngine: FormulaRegExp as unknown as RegExpConstructor,
    });
    const tree = expression.ast() as unknown as JsonataNode;
    rewrite(tree, body);
    checkRegularExpressions(tree);
    return { body, offset, expression, tree };
  } catch (error) {
    throw explainSyntaxError(error, body, offset);
  }
}

function checkRegularExpressions(node: JsonataNode): void {
  if (node.type === 'regex') linearPattern(node.value as RegExp);
  for (const child of childrenOf(node)) checkRegularExpressions(child.node);
}
