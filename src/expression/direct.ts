import type { JsonObject, JsonValue } from '../common/index.js';

import type { Bindings } from './formula.js';
import { type JsonataNode, calledName, pairsOf } from './jsonata-tree.js';
import { limits } from './limits.js';
import { giveUp, isPlain, plainPathOf, readPath } from './plain-path.js';

/**
 * The direct way: conditions, sums, texts and defaults over plain paths, evaluated at once and many times
 * faster than through JSONata. It knows only the case in which all goes well. A list where JSONata would map,
 * an absent operand, a wrong type, anything out of the ordinary makes it give up, and JSONata does the whole
 * formula. Hence no message is made here; a property test compares the two ways.
 */
export type Direct = (bindings: Bindings) => Outcome;

type Outcome = JsonValue | undefined | typeof giveUp;

/** Undefined where the formula uses more than the direct way knows. Takes the rewritten tree. */
export function directOf(node: JsonataNode): Direct | undefined {
  const path = plainPathOf(node);
  if (path) return (bindings) => readPath(path, bindings);
  if (!isPlain(node)) return undefined;
  switch (node.type) {
    case 'string':
    case 'number':
    case 'value': {
      const value = node.value as JsonValue;
      return () => value;
    }
    case 'binary':
      return binary(node);
    case 'condition':
      return node.mark?.guard ? guarded(node) : choice(node);
    case 'function':
      return call(node);
    case 'block':
      return node.expressions?.length === 1 ? directOf(node.expressions[0] as JsonataNode) : undefined;
    case 'unary':
      return node.value === '{' ? object(node) : undefined;
    default:
      return undefined;
  }
}

function binary(node: JsonataNode): Direct | undefined {
  const left = directOf(node.lhs as JsonataNode);
  const right = node.rhs && directOf(node.rhs);
  if (!left || !right) return undefined;
  const operator = String(node.value);
  if (operator === 'and' || operator === 'or') {
    return (bindings) => {
      const first = truthOf(left(bindings));
      return first === giveUp || first === (operator === 'or') ? first : truthOf(right(bindings));
    };
  }
  const apply = operators[operator];
  return apply && ((bindings) => apply(left(bindings), right(bindings)));
}

const operators: Readonly<Record<string, (left: Outcome, right: Outcome) => Outcome>> = {
  '=': (left, right) => (isScalar(left) && isScalar(right) ? left === right : giveUp),
  '!=': (left, right) => (isScalar(left) && isScalar(right) ? left !== right : giveUp),
  '<': comparison((left, right) => left < right),
  '<=': comparison((left, right) => left <= right),
  '>': comparison((left, right) => left > right),
  '>=': comparison((left, right) => left >= right),
  '+': arithmetic((left, right) => left + right),
  '-': arithmetic((left, right) => left - right),
  '*': arithmetic((left, right) => left * right),
  '/': arithmetic((left, right) => left / right),
  '%': arithmetic((left, right) => left % right),
  '&'(left, right) {
    const first = textOf(left);
    const second = textOf(right);
    if (first === undefined || second === undefined || first.length + second.length > limits.length) return giveUp;
    return first + second;
  },
};

function comparison(compare: (left: number | string, right: number | string) => boolean) {
  return (left: Outcome, right: Outcome): Outcome => {
    const areNumbers = typeof left === 'number' && typeof right === 'number';
    const areTexts = typeof left === 'string' && typeof right === 'string';
    return areNumbers || areTexts ? compare(left, right) : giveUp;
  };
}

function arithmetic(compute: (left: number, right: number) => number) {
  return (left: Outcome, right: Outcome): Outcome => {
    if (typeof left !== 'number' || typeof right !== 'number') return giveUp;
    const result = compute(left, right);
    return Number.isFinite(result) ? result : giveUp;
  };
}

function choice(node: JsonataNode): Direct | undefined {
  const test = node.condition && directOf(node.condition);
  const then = node.then && directOf(node.then);
  const otherwise = node.else ? directOf(node.else) : () => undefined;
  if (!test || !then || !otherwise) return undefined;
  return (bindings) => {
    const truth = truthOf(test(bindings));
    if (truth === giveUp) return giveUp;
    return truth ? then(bindings) : otherwise(bindings);
  };
}

/** What `??`, `?:` and paths into `$result` were rewritten to (`rewrite.ts`). */
function guarded(node: JsonataNode): Direct | undefined {
  const { condition } = node;
  const otherwise = node.else && directOf(node.else);
  if (!condition || !otherwise) return undefined;
  // What reads a path knows what to do with a `$result` of null.
  if (condition.type === 'binary') return otherwise;
  const isTrueEnough = condition.type === 'bind' ? truthOf : () => true;
  const bind = condition.type === 'bind' ? condition : condition.arguments?.[0];
  const left = bind?.rhs && directOf(bind.rhs);
  if (!left) return undefined;
  return (bindings) => {
    const value = left(bindings);
    if (value === undefined) return otherwise(bindings);
    const truth = value === giveUp ? giveUp : isTrueEnough(value);
    if (truth === giveUp) return giveUp;
    return truth ? value : otherwise(bindings);
  };
}

function call(node: JsonataNode): Direct | undefined {
  const [only, ...more] = node.arguments ?? [];
  const argument = only && more.length === 0 ? directOf(only) : undefined;
  const apply = functions.get(calledName(node) ?? '');
  return argument && apply && ((bindings) => apply(argument(bindings)));
}

const functions: ReadonlyMap<string, (argument: Outcome) => Outcome> = new Map([
  ['exists', (argument: Outcome): Outcome => (argument === giveUp ? giveUp : argument !== undefined)],
  [
    'not',
    (argument) => {
      const truth = truthOf(argument);
      return truth === giveUp ? giveUp : !truth;
    },
  ],
  [
    'count',
    (argument) => {
      if (argument === giveUp || argument === undefined) return argument === giveUp ? giveUp : 0;
      return Array.isArray(argument) ? argument.length : 1;
    },
  ],
]);

function object(node: JsonataNode): Direct | undefined {
  const fields = new Map<string, Direct>();
  for (const [key, content] of pairsOf(node)) {
    const direct = directOf(content);
    const name = String(key.value);
    // Names given twice, and those that JSONata or we refuse, are errors.
    if (!direct || key.type !== 'string' || !isPlain(key) || fields.has(name) || name.startsWith('_')) return undefined;
    fields.set(name, direct);
  }
  return (bindings) => {
    const result: JsonObject = {};
    for (const [name, content] of fields) {
      const value = content(bindings);
      if (value === giveUp || value === undefined) return giveUp;
      result[name] = value;
    }
    return result;
  };
}

function isScalar(value: Outcome): value is null | boolean | number | string {
  return value === null || (value !== undefined && typeof value !== 'object' && typeof value !== 'symbol');
}

/** What JSONata takes for true; not for lists and objects, nor for what is absent. */
function truthOf(value: Outcome): boolean | typeof giveUp {
  if (!isScalar(value)) return giveUp;
  return value !== null && value !== false && value !== 0 && value !== '';
}

/** The text that `&` makes of a value; undefined where it takes more than a look. */
function textOf(value: Outcome): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return isScalar(value) ? String(value) : undefined;
}
