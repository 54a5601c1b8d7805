import { type Spread, collapsed, spreadOf } from './spread.js';
import {
  type Type,
  absent,
  anything,
  booleanType,
  describeType,
  functionType,
  listOf,
  never,
  numberType,
  openMap,
  optional,
  present,
  stringType,
  union,
  unknown,
} from './type.js';

/**
 * The parameters of JSONata's functions in its own notation (`s` text, `n` number, `b` boolean, `a<n>` list of, or
 * one of, `o` map, `f` function, `x` anything, `-` taken from the context where it is left out, `?` may be left
 * out), and Runsheet's own function. A test holds them to the library.
 */
export const signatures: Readonly<Record<string, string>> = {
  sum: 'a<n>',
  count: 'a',
  max: 'a<n>',
  min: 'a<n>',
  average: 'a<n>',
  string: 'x-b?',
  substring: 's-nn?',
  substringBefore: 's-s',
  substringAfter: 's-s',
  lowercase: 's-',
  uppercase: 's-',
  length: 's-',
  trim: 's-',
  pad: 's-ns?',
  match: 's-f<s:o>n?',
  contains: 's-(sf)',
  replace: 's-(sf)(sf)n?',
  split: 's-(sf)n?',
  join: 'a<s>s?',
  formatNumber: 'n-so?',
  formatBase: 'n-n?',
  formatInteger: 'n-s',
  parseInteger: 's-s',
  number: '(nsb)-',
  floor: 'n-',
  ceil: 'n-',
  round: 'n-n?',
  abs: 'n-',
  sqrt: 'n-',
  power: 'n-n',
  random: '',
  boolean: 'x-',
  not: 'x-',
  map: 'af',
  zip: 'a+',
  filter: 'af',
  single: 'af?',
  reduce: 'afj?',
  sift: 'o-f?',
  keys: 'x-',
  lookup: 'x-s',
  append: 'xx',
  exists: 'x',
  spread: 'x-',
  merge: 'a<o>',
  reverse: 'a',
  each: 'o-f',
  assert: 'bs?',
  type: 'x',
  sort: 'af?',
  shuffle: 'a',
  distinct: 'x',
  base64encode: 's-',
  base64decode: 's-',
  encodeUrlComponent: 's-',
  encodeUrl: 's-',
  decodeUrlComponent: 's-',
  decodeUrl: 's-',
  toMillis: 's-s?',
  fromMillis: 'n-s?s?',
  clone: '(oa)-',
  now: 's?s?',
  millis: '',
  addDuration: '(sn)s',
};

export interface Parameter {
  /** The values that it takes; one of them where it takes a list. */
  readonly type: Type;
  readonly isOptional: boolean;
  /** Whether the item at hand stands in for it where it is left out. */
  readonly fromContext: boolean;
  readonly repeats: boolean;
}

const kinds: Readonly<Record<string, Type>> = {
  s: stringType,
  n: numberType,
  b: booleanType,
  o: openMap,
  a: anything,
  f: functionType,
  x: anything,
  j: anything,
};

const parsed = new Map<string, readonly Parameter[]>();

/** The parameters of a function; undefined for one that is not known. */
export function parametersOf(name: string): readonly Parameter[] | undefined {
  const text = Object.hasOwn(signatures, name) ? signatures[name] : undefined;
  if (text === undefined) return undefined;
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const parameters = [...text.matchAll(/(\([a-z]+\)|[a-z])(?:<([^>]*)>)?([-?+]?)/g)].map(
    ([, letters = '', inside, mark]): Parameter => {
      const type =
        letters === 'a' && inside !== undefined
          ? union(kinds[inside] ?? anything, listOf(kinds[inside] ?? anything))
          : union(...letters.replace(/[()]/g, '').split('').map(kindOf));
      return { type, isOptional: mark === '?', fromContext: mark === '-', repeats: mark === '+' };
    },
  );
  parsed.set(name, parameters);
  return parameters;
}

function kindOf(letter: string): Type {
  return letter === 'a' ? union(listOf(anything), anything) : (kinds[letter] ?? anything);
}

/** What a function that is handed to another gives for these arguments. */
export type Applied = (index: number, given: readonly Type[]) => Type;

/** Functions that give one kind of value, or nothing where their first argument is absent. */
const plainResults: Readonly<Record<string, Type>> = {
  sum: numberType,
  max: numberType,
  min: numberType,
  average: numberType,
  substring: stringType,
  substringBefore: stringType,
  substringAfter: stringType,
  lowercase: stringType,
  uppercase: stringType,
  length: numberType,
  trim: stringType,
  pad: stringType,
  contains: booleanType,
  replace: stringType,
  split: listOf(stringType),
  join: stringType,
  formatNumber: stringType,
  formatBase: stringType,
  formatInteger: stringType,
  parseInteger: numberType,
  number: numberType,
  floor: numberType,
  ceil: numberType,
  round: numberType,
  abs: numberType,
  sqrt: numberType,
  power: numberType,
  string: stringType,
  base64encode: stringType,
  base64decode: stringType,
  encodeUrlComponent: stringType,
  encodeUrl: stringType,
  decodeUrlComponent: stringType,
  decodeUrl: stringType,
  toMillis: numberType,
  fromMillis: stringType,
  addDuration: stringType,
  boolean: booleanType,
  not: booleanType,
};

/** Whether a function never gives several values, which JSONata would then take for one or none. */
export function givesOneValue(name: string): boolean {
  return Object.hasOwn(plainResults, name) || Object.hasOwn(certainResults, name) || name === 'type';
}

/** Of these an empty list has no result. */
const emptyAbsent: ReadonlySet<string> = new Set(['max', 'min', 'average', 'parseInteger', 'toMillis']);

const certainResults: Readonly<Record<string, Type>> = {
  count: numberType,
  exists: booleanType,
  random: numberType,
  now: stringType,
  millis: numberType,
};

const typeNames = ['null', 'number', 'string', 'boolean', 'array', 'object', 'function'];

/** The result of a call. `apply` tells what a function among the arguments gives. */
export function resultOf(name: string, given: readonly Type[], apply: Applied): Type {
  const certain = Object.hasOwn(certainResults, name) ? certainResults[name] : undefined;
  if (certain !== undefined) return certain;
  const first = given[0] ?? unknown;
  const plain = Object.hasOwn(plainResults, name) ? plainResults[name] : undefined;
  if (plain !== undefined) {
    const mayLack = given.slice(0, 2).some((each) => each.absent) || given.length === 0 || emptyAbsent.has(name);
    return mayLack ? optional(plain) : plain;
  }
  const items = spreadOf(first);
  const few = (each: Type): Spread => ({ items: present(each), min: 0, max: items.max });
  switch (name) {
    case 'type':
      return { ...never, absent: first.absent, string: new Set(typeNames) };
    case 'map': {
      const each = apply(1, [items.items, numberType, listOf(items.items)]);
      return collapsed({ items: present(each), min: each.absent ? 0 : items.min, max: items.max });
    }
    case 'filter':
      apply(1, [items.items, numberType, listOf(items.items)]);
      return collapsed(few(items.items));
    case 'single':
      if (given.length > 1) apply(1, [items.items, numberType, listOf(items.items)]);
      return optional(items.items);
    case 'sort':
    case 'shuffle':
    case 'reverse':
      if (given.length > 1) apply(1, [items.items, items.items]);
      return union(listOf(items.items, items.min, items.max), collapsed(items), first.absent ? absent : never);
    case 'distinct':
      return union(
        { ...first, list: undefined },
        collapsed({ ...items, min: Math.min(items.min, 1) }),
        keptList(first),
      );
    case 'append': {
      const second = spreadOf(given[1] ?? unknown);
      const both = union(items.items, second.items);
      const parts = union(first, given[1] ?? unknown);
      return union(listOf(both, 0, Infinity), optional(parts));
    }
    case 'keys':
      return collapsed({ items: stringType, min: 0, max: Infinity });
    case 'merge':
      return optional(openMap);
    case 'zip':
      return listOf(listOf(anything));
    default:
      return unknown;
  }
}

function keptList(type: Type): Type {
  return type.list === undefined ? never : listOf(type.list.items, Math.min(1, type.list.min), type.list.max);
}

export function describeParameter({ type }: Parameter): string {
  return describeType(type.list === undefined ? type : { ...never, list: type.list });
}
