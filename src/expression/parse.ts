import type { Expression } from 'jsonata';

import { refuseDepth } from './formula-depth.js';
import { FormulaSyntaxError } from './formula-error.js';
import type { JsonataNode } from './jsonata-tree.js';
import { childrenOf } from './jsonata-tree.js';
import { type Token, isRounded, tokensOf } from './lexer.js';
import { loadJsonata } from './libraries.js';
import { type FreeVariable, freeVariables } from './names.js';
import { LinearRegExp, patternOf } from './regular-expression.js';
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
  readonly free: readonly FreeVariable[];
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
  if (body === '')
    throw new FormulaSyntaxError(
      'the formula is empty',
      0,
      text.length,
      'write it behind the `=`; an empty text is `=""`',
    );
  refuseRounded(tokensOf(body), offset);
  try {
    const tokens = tokensOf(body);
    refuseDepth(tokens, offset);
    refuseDoubling(tokens);
    const jsonata = loadJsonata();
    const expression = jsonata(body, {
      sequence: limits.length,
      RegexEngine: FormulaRegExp as unknown as RegExpConstructor,
    });
    const tree = expression.ast() as unknown as JsonataNode;
    rewrite(tree, body);
    checkRegularExpressions(tree);
    return { body, offset, expression, tree, free: freeVariables(tree) };
  } catch (error) {
    throw explainSyntaxError(error, body, offset);
  }
}

function checkRegularExpressions(node: JsonataNode): void {
  if (node.type === 'regex') patternOf(node.value as RegExp);
  for (const child of childrenOf(node)) checkRegularExpressions(child.node);
}

/** The parser would round them, and a comparison with one be true of another. */
function refuseRounded(tokens: readonly Token[], offset: number): void {
  const rounded = tokens.find(({ kind, text }) => kind === 'number' && isRounded(text));
  if (rounded === undefined) return;
  throw new FormulaSyntaxError(
    `the integer ${rounded.text} is beyond ±2^53 and would be rounded to ${Number(rounded.text)}`,
    offset + rounded.start,
    offset + rounded.end,
    `quote it: \`"${rounded.text}"\`, here and where the other value comes from`,
  );
}

/** Nodes that the parser may make of the left sides of defaults. */
const mostCopies = 50_000;

/**
 * JSONata's parser copies what stands left of `??` and `?:`, with all copies made inside it: brackets nested
 * n deep, each with a default in front of another, take 2ⁿ nodes. Counts them before they are made.
 */
function refuseDoubling(tokens: readonly Token[]): void {
  // For each open bracket: nodes that are settled, and those that the next default would copy.
  const open = [{ settled: 0, left: 0 }];
  for (const { text, kind } of tokens) {
    const level = open[open.length - 1] as (typeof open)[number];
    level.left++;
    if (kind !== 'operator') continue;
    if ('([{'.includes(text)) open.push({ settled: 0, left: 0 });
    else if (')]}'.includes(text) && open.length > 1) {
      open.pop();
      (open[open.length - 1] as (typeof open)[number]).left += level.settled + level.left;
    } else if (text === '??' || text === '?:') {
      level.settled += 2 * level.left;
      level.left = 0;
    } else if (text === ',' || text === ';') {
      level.settled += level.left;
      level.left = 0;
    }
    if (level.settled + level.left > mostCopies) throw new RangeError('defaults nested too deeply');
  }
}
