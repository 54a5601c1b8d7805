import { type JsonObject, type JsonValue, isJsonObject } from '../../common/index.js';
import type { BinaryNode, CallNode, FormulaNode, PathNode } from '../../expression/index.js';
import { bare, plainText, stepReadBy } from './formula-text.js';

/** What is known of the variables of a formula. Nothing is known of those that are absent. */
export interface Known {
  readonly iteration?: number;
  readonly constants?: JsonObject;
  /** The id of a step that has no output. */
  readonly absent?: string;
}

type Scalar = string | number | boolean | null;

const absent = Symbol('absent');

/**
 * The value that a formula has whatever happens in the run, as far as it can be seen from its text; undefined where it
 * cannot, or has none. That an evaluation may fail is passed over: a value is what it has if it has one.
 *
 * @param text of the whole formula, which the places of the nodes refer to
 */
export function foldFormula(node: FormulaNode, text: string, known: Known = {}): Scalar | undefined {
  const value = fold(node, text, known);
  return value === absent ? undefined : value;
}

type Folded = Scalar | typeof absent | undefined;

function fold(node: FormulaNode, text: string, known: Known): Folded {
  const inner = bare(node);
  switch (inner.kind) {
    case 'literal':
      return inner.value;
    case 'variable':
      return !inner.own && inner.name === 'iteration' ? known.iteration : undefined;
    case 'path':
      if (known.absent !== undefined && stepReadBy(inner) === known.absent && inner.group === undefined) return absent;
      return constantAt(inner, known.constants);
    case 'binary':
      return foldBinary(inner, text, known);
    case 'conditional': {
      const condition = fold(inner.condition, text, known);
      if (typeof condition !== 'boolean') return undefined;
      if (condition) return fold(inner.then, text, known);
      return inner.otherwise === undefined ? absent : fold(inner.otherwise, text, known);
    }
    case 'default': {
      const left = fold(inner.left, text, known);
      return left === absent ? fold(inner.right, text, known) : inner.operator === '??' ? left : undefined;
    }
    case 'call':
      return foldCall(inner, text, known);
    default:
      return undefined;
  }
}

function foldCall(node: CallNode, text: string, known: Known): Folded {
  const [argument] = node.arguments;
  const value = argument && fold(argument, text, known);
  switch (node.function) {
    case 'not':
      return typeof value === 'boolean' ? !value : undefined;
    case 'exists':
      return value === undefined ? undefined : value !== absent;
    case 'count':
      return value === absent ? 0 : undefined;
    case 'boolean':
      return typeof value === 'boolean' || value === absent ? value : undefined;
    default:
      return undefined;
  }
}

function constantAt({ steps, group }: PathNode, constants: JsonObject | undefined): Scalar | undefined {
  const [first, ...names] = steps;
  if (constants === undefined || group !== undefined) return undefined;
  if (first.kind !== 'expression' || first.node.kind !== 'variable') return undefined;
  if (first.node.own || first.node.name !== 'constants' || first.stages.length > 0) return undefined;
  let value: JsonValue | undefined = constants;
  for (const step of names) {
    if (step.kind !== 'name' || step.stages.length > 0 || !isJsonObject(value)) return undefined;
    value = value[step.name];
  }
  return typeof value === 'object' && value !== null ? undefined : value;
}

function foldBinary(node: BinaryNode, text: string, known: Known): Scalar | undefined {
  const left = fold(node.left, text, known);
  const right = fold(node.right, text, known);
  const { operator } = node;
  if (operator === 'and' || operator === 'or') {
    const decisive = operator === 'or';
    if (left === decisive || right === decisive) return decisive;
    if (typeof left === 'boolean' && typeof right === 'boolean') return !decisive;
    return excludesEachOther(node, text) ? decisive : undefined;
  }
  if (left === undefined || right === undefined || left === absent || right === absent) return undefined;
  switch (operator) {
    case '=':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return compare(left, right, (a, b) => a < b);
    case '<=':
      return compare(left, right, (a, b) => a <= b);
    case '>':
      return compare(left, right, (a, b) => a > b);
    case '>=':
      return compare(left, right, (a, b) => a >= b);
    case '+':
      return compute(left, right, (a, b) => a + b);
    case '-':
      return compute(left, right, (a, b) => a - b);
    case '*':
      return compute(left, right, (a, b) => a * b);
    case '%':
      return compute(left, right, (a, b) => a % b);
    default:
      return undefined;
  }
}

function compare(
  left: Scalar,
  right: Scalar,
  how: (left: number | string, right: number | string) => boolean,
): boolean | undefined {
  if (typeof left === 'number' && typeof right === 'number') return how(left, right);
  return typeof left === 'string' && typeof right === 'string' ? how(left, right) : undefined;
}

function compute(left: Scalar, right: Scalar, how: (left: number, right: number) => number): number | undefined {
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  const value = how(left, right);
  return Number.isFinite(value) ? value : undefined;
}

/** `x = 1 and x = 2`, which never holds, and `x != 1 or x != 2`, which always does. */
function excludesEachOther({ operator, left, right }: BinaryNode, text: string): boolean {
  const first = comparedWith(left, operator === 'and' ? '=' : '!=', text);
  const second = comparedWith(right, operator === 'and' ? '=' : '!=', text);
  return first !== undefined && first.subject === second?.subject && first.literal !== second.literal;
}

interface Comparison {
  readonly subject: string;
  readonly literal: Scalar;
}

/** Which path a comparison compares with which literal value. */
export function comparedWith(node: FormulaNode, operator: '=' | '!=', text: string): Comparison | undefined {
  const inner = bare(node);
  if (inner.kind !== 'binary' || inner.operator !== operator) return undefined;
  const [left, right] = [bare(inner.left), bare(inner.right)];
  const [subject, literal] = right.kind === 'literal' ? [left, right] : [right, left];
  if (literal.kind !== 'literal') return undefined;
  if (subject.kind !== 'path' && subject.kind !== 'variable') return undefined;
  return { subject: plainText(text, subject), literal: literal.value };
}
