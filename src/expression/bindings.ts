import type { FormulaProblem } from './analyse.js';
import type { BinaryNode, DefaultNode, FormulaNode } from './formula-tree.js';
import type { SoundFormula } from './inspect.js';
import type { Span } from './spans.js';

/*
 * Operators that bind otherwise than people read them: `??` and `?:` take all that follows, and of what stands before
 * them a whole sum or comparison.
 */

const ordering: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

export function bindingProblems({ nodes }: SoundFormula, text: string): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  const inside = new Set<FormulaNode>();
  for (const { node, role } of nodes) {
    if (node.kind === 'binary' && ordering.has(node.operator)) problems.push(...comparisonsInARow(node, text));
    if (node.kind !== 'default' || inside.has(node)) continue;
    // `a ?? b ?? c` is one default after the other.
    let last: DefaultNode = node;
    for (; last.right.kind === 'default'; last = last.right) inside.add(last.right);
    // Where a formula is evaluated for each item, an absent operand makes the whole absent.
    const unused = role === 'context' && node.operator === '??' ? unusedDefault(node, last, text) : undefined;
    const problem = unused ?? defaultOfMore(node, last, text);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

/** `$a ?? 0 > 5`, which is `$a ?? (0 > 5)`. */
function defaultOfMore(first: DefaultNode, { operator, right }: DefaultNode, text: string): FormulaProblem | undefined {
  if (right.kind !== 'binary' && right.kind !== 'conditional') return undefined;
  const given = leftmost(right);
  const whole = shown(right, text);
  const wrapped = `(${shown({ start: first.start, end: given.end }, text)})`;
  return {
    kind: 'default-of-more',
    message: `all that follows \`${operator}\` is its default: \`${whole}\``,
    start: first.start,
    end: given.end,
    help: `write \`${wrapped}${shown({ start: given.end, end: right.end }, text)}\`; if all of it is the default, \`${operator} (${whole})\``,
  };
}

/** `1 + $a ?? 0`, which is `(1 + $a) ?? 0`: that is never absent, but fails where `$a` is. */
function unusedDefault({ left }: DefaultNode, { right }: DefaultNode, text: string): FormulaProblem | undefined {
  if (left.kind !== 'binary' && left.kind !== 'negate') return undefined;
  const needed = rightmost(left);
  const end = right.kind === 'binary' || right.kind === 'conditional' ? leftmost(right).end : right.end;
  const before = shown({ start: left.start, end: needed.start }, text);
  return {
    kind: 'unused-default',
    message: `this default is for the whole of \`${shown(left, text)}\`, which fails where a part of it is absent`,
    start: needed.start,
    end,
    help: `write \`${before}(${shown({ start: needed.start, end }, text)})\``,
  };
}

/** `1 < $n < 5`: what the first one says is true or false, and neither is less than 5. */
function comparisonsInARow({ left, operator, right }: BinaryNode, text: string): FormulaProblem[] {
  if (left.kind !== 'binary' || !(ordering.has(left.operator) || left.operator === '=')) return [];
  const middle = shown(left.right, text);
  const help = `write \`${shown(left, text)} and ${middle} ${operator} ${shown(right, text)}\``;
  const message = `\`${operator}\` compares what \`${shown(left, text)}\` says, which is true or false`;
  return [{ kind: 'comparisons', message, start: left.start, end: right.end, help }];
}

/** What stands first in a row of operators. */
function leftmost(node: FormulaNode): FormulaNode {
  if (node.kind === 'conditional') return leftmost(node.condition);
  return node.kind === 'binary' ? leftmost(node.left) : node;
}

/** What stands last in it. */
function rightmost(node: FormulaNode): FormulaNode {
  if (node.kind === 'negate') return rightmost(node.operand);
  return node.kind === 'binary' ? rightmost(node.right) : node;
}

function shown({ start, end }: Span, text: string): string {
  return text.slice(start, end).replace(/\s*\n\s*/g, ' ');
}
