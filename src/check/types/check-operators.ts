import { quoted } from '../../definition/index.js';
import { type BinaryNode, type FormulaNode, givesText } from '../../expression/index.js';
import { nearest } from '../../syntax/index.js';
import type { Inference } from './infer.js';
import { type Type, describeType, isNever, mayBe, numberType, present, stringType, union } from './type.js';

type Operand = readonly [node: FormulaNode, type: Type, what: string];

const ordered: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** Operands that cannot be what their operator works on. */
export function checkOperands(inference: Inference, operator: string, operands: readonly Operand[]): void {
  // A text beside an operator for numbers, and comparisons in a row, have messages of their own.
  if (
    !ordered.has(operator) &&
    operator !== '..' &&
    operands.length === 2 &&
    operands.some(([node]) => givesText(node))
  )
    return;
  const before = operands[0]?.[0];
  if (ordered.has(operator) && before?.kind === 'binary' && (ordered.has(before.operator) || before.operator === '='))
    return;
  const expected = ordered.has(operator) ? union(numberType, stringType) : numberType;
  for (const [node, type, what] of operands) {
    if (mayBe(type, expected)) continue;
    const needed = ordered.has(operator) ? 'a number or text' : 'a number';
    const message = `${what} must be ${needed}, but \`${inference.textOf(node)}\` is ${describeType(type)}`;
    inference.report('RS3013', 'error', node, message, operandHelp(operator, type));
    return;
  }
  const [left, right] = operands;
  if (!ordered.has(operator) || left === undefined || right === undefined) return;
  const sort = (type: Type): string | undefined =>
    !mayBe(type, stringType) ? 'number' : mayBe(type, numberType) ? undefined : 'text';
  const kinds = [sort(left[1]), sort(right[1])];
  if (isNever(present(left[1])) || isNever(present(right[1]))) return;
  if (kinds[0] === undefined || kinds[1] === undefined || kinds[0] === kinds[1]) return;
  const [name, other] = kinds[0] === 'text' ? [left, right] : [right, left];
  const message = `\`${operator}\` compares two numbers or two texts, but \`${inference.textOf(name[0])}\` is text and \`${inference.textOf(other[0])}\` a number`;
  inference.report(
    'RS3013',
    'error',
    { start: left[0].start, end: right[0].end },
    message,
    'make a number of a text with `$number(…)`',
  );
}

function operandHelp(operator: string, type: Type): string {
  if (type.list !== undefined) return 'for the number of its items write `$count(…)`, for their sum `$sum(…)`';
  if (type.string !== undefined && operator === '+')
    return 'texts are joined with `&`; a number in a text is read by `$number(…)`';
  if (type.string !== undefined) return 'a number in a text is read by `$number(…)`';
  if (type.boolean) return 'conditions are joined by `and` and `or`; for a number write `… ? 1 : 0`';
  return type.map !== undefined ? 'read one of its fields' : 'give a number in its place';
}

/** Comparisons whose answer is always the same, because their sides can never be equal. */
export function checkComparison(inference: Inference, node: BinaryNode, left: Type, right: Type): void {
  if (node.operator === 'in') {
    if (node.right.kind !== 'list') return;
    for (const item of node.right.items) {
      if (item.kind === 'literal')
        checkEquality(inference, node, left, inference.typeOfLiteral(item), [node.left, item]);
    }
    return;
  }
  checkEquality(inference, node, left, right, [node.left, node.right]);
}

function checkEquality(
  inference: Inference,
  node: BinaryNode,
  left: Type,
  right: Type,
  [leftNode, rightNode]: readonly [FormulaNode, FormulaNode],
): void {
  // Two literals are a constant, for which there is a message of its own.
  if (leftNode.kind === 'literal' && rightNode.kind === 'literal') return;
  if (isNever(present(left)) || isNever(present(right)) || mayBe(left, right)) return;
  const never = node.operator === '!=' ? 'always true' : 'never true';
  const [subject, type, other, given] =
    leftNode.kind === 'literal' ? [rightNode, right, leftNode, left] : [leftNode, left, rightNode, right];
  const known = choicesOf(type);
  const value = other.kind === 'literal' ? other.value : undefined;
  if (known !== undefined && (typeof value === 'string' || typeof value === 'number') && sameKind(value, type)) {
    const guess = nearest(String(value), known.map(String));
    const some = known.slice(0, 8).map((each) => JSON.stringify(each));
    const help =
      guess === undefined
        ? `it can be ${some.join(', ')}${known.length > some.length ? ', …' : ''}`
        : `did you mean \`${typeof value === 'string' ? JSON.stringify(guess) : guess}\`?`;
    const shown = typeof value === 'string' ? quoted(value) : String(value);
    inference.report(
      'RS3012',
      'error',
      other,
      `\`${inference.textOf(subject)}\` can never be ${shown}, so this is ${never}`,
      help,
    );
    return;
  }
  const is =
    other.kind === 'literal' && other.value === null
      ? 'and never null'
      : `\`${inference.textOf(other)}\` is ${describeType(given)}`;
  const message = `this is ${never}: \`${inference.textOf(subject)}\` is ${describeType(type)}, ${is}`;
  inference.report(
    'RS3011',
    'error',
    { start: leftNode.start, end: rightNode.end },
    message,
    equalityHelp(inference, node, subject, type, other, given),
  );
}

function equalityHelp(
  inference: Inference,
  node: BinaryNode,
  subject: FormulaNode,
  type: Type,
  other: FormulaNode,
  given: Type,
): string {
  if (node.operator === 'in') return 'leave it out of the list';
  if (other.kind === 'literal' && other.value === null) {
    const exists = `$exists(${inference.textOf(subject)})`;
    return `whether it is there at all says \`${node.operator === '=' ? `$not(${exists})` : exists}\``;
  }
  if (type.list !== undefined)
    return `whether it is among them says \`${inference.textOf(other)} in ${inference.textOf(subject)}\``;
  if (other.kind === 'literal' && typeof other.value === 'string') {
    if (type.number !== undefined && /^-?\d+(\.\d+)?$/.test(other.value))
      return `without quotes it is a number: \`${other.value}\``;
    if (type.boolean && !/^(true|false)$/.test(other.value))
      return 'it is compared with `true` or `false`, or stands alone';
    if (type.boolean) return `without quotes it is true or false: \`${other.value}\``;
  }
  if (other.kind === 'literal' && type.string !== undefined)
    return `as text it is written \`"${String(other.value)}"\``;
  return given.list !== undefined ? 'whether it is among them says `in`' : 'compare it with a value of its own kind';
}

function sameKind(value: string | number, type: Type): boolean {
  return (typeof value === 'string' ? type.string : type.number) !== undefined;
}

/** The few values that a type can be, where it is that. */
function choicesOf(type: Type): (string | number)[] | undefined {
  if (type.anything || type.list || type.map || type.function) return undefined;
  if (type.string === 'any' || type.number === 'any') return undefined;
  const all = [...(type.string ?? []), ...(type.number ?? [])];
  return all.length === 0 ? undefined : all;
}
