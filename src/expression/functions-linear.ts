import { type Focus, type FunctionDefinition, builtIn, define } from './built-ins.js';
import { tooLong } from './fault.js';
import { limits } from './limits.js';
import { isFunctionValue } from './value-names.js';

/**
 * What JSONata does in quadratic time or memory, or makes in one go before anybody can weigh it. The results
 * are the same (property tests compare them); only what would have hung or filled the process is refused.
 */
export const linearFunctions: Readonly<Record<string, () => FunctionDefinition>> = {
  pad: () =>
    define(function (this: Focus, text?: string, width = 0, filler?: string) {
      if (text === undefined) return undefined;
      const missing = Math.abs(Math.trunc(width)) - [...text].length;
      if (!(missing > 0)) return text;
      if (missing > limits.length) throw tooLong('what `$pad` makes');
      const characters = filler === undefined || filler === '' ? [' '] : [...filler];
      const padding = Array.from({ length: missing }, (_, index) => characters[index % characters.length]).join('');
      return width > 0 ? text + padding : padding + text;
    }, builtIn('pad')),

  join: () =>
    define(function (this: Focus, texts?: readonly string[], separator = '') {
      if (texts === undefined) return undefined;
      let length = separator.length * Math.max(0, texts.length - 1);
      for (const text of texts) length += text.length;
      if (length > limits.length) throw tooLong('what `$join` makes');
      return texts.join(separator);
    }, builtIn('join')),

  /** Indented text grows with the depth of what is printed, beyond its weight. */
  string() {
    const original = builtIn('string');
    return define(function (this: Focus, value?: unknown, prettify = false) {
      if (prettify && indentation(value, 1) > limits.length) throw tooLong('what `$string` makes');
      return (original.implementation as (value: unknown, prettify: boolean) => unknown)(value, prettify);
    }, original);
  },

  /** `Math.max(...list)` overflows the stack. */
  max: () => extreme('max', (a, b) => a > b),
  min: () => extreme('min', (a, b) => a < b),

  /** JSONata's merge keeps a copy of the rest of the list for each item: 20,000 numbers take a gigabyte. */
  sort() {
    const original = builtIn('sort');
    return define(function (this: Focus, list?: readonly unknown[], comparator?: Comparator) {
      if (list === undefined || list.length <= 1) return list;
      if (comparator !== undefined) return mergeSort(list, (a, b) => comparator.apply(this, [a, b]));
      const [first] = list;
      const alike =
        (typeof first === 'string' || typeof first === 'number') && list.every((item) => typeof item === typeof first);
      // The original throws the right error.
      if (!alike) return (original.implementation as (list: unknown) => unknown)(list);
      return [...(list as (string | number)[])].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    }, original);
  },

  /** JSONata compares each with each. */
  distinct: () =>
    define(function (this: Focus, list?: unknown) {
      if (!Array.isArray(list) || list.length <= 1) return list;
      const seen = new Set<unknown>();
      const results: unknown[] = 'sequence' in list ? this.createSequence() : [];
      for (const item of list) {
        const identity = identityOf(item);
        if (seen.has(identity)) continue;
        seen.add(identity);
        results.push(item);
      }
      return results;
    }, builtIn('distinct')),

  /** JSONata copies what it has for each item. */
  spread() {
    const original = builtIn('spread');
    return define(function (this: Focus, value?: unknown) {
      if (!Array.isArray(value)) return original.implementation.apply(this, [value] as never[]);
      // As JSONata has it: a list of one is not collapsed, an empty one is no value.
      const results: unknown[] = value.length === 0 ? this.createSequence() : [];
      const add = (part: unknown): void => {
        if (Array.isArray(part)) part.forEach(add);
        else if (typeof part !== 'object' || part === null || isFunctionValue(part)) results.push(part);
        else for (const [key, content] of Object.entries(part)) results.push({ [key]: content });
      };
      value.forEach(add);
      return results;
    }, original);
  },
};

type Comparator = (this: Focus, ...pair: unknown[]) => unknown;

function extreme(name: 'max' | 'min', isBetter: (a: number, b: number) => boolean): FunctionDefinition {
  return define(function (this: Focus, numbers?: readonly number[]) {
    if (numbers === undefined || numbers.length === 0) return undefined;
    return numbers.reduce((best, candidate) => (isBetter(candidate, best) ? candidate : best));
  }, builtIn(name));
}

/** Stable; `comesAfter(a, b)` is true where the two must change places, as JSONata asks it. */
async function mergeSort(
  list: readonly unknown[],
  comesAfter: (a: unknown, b: unknown) => unknown,
): Promise<unknown[]> {
  let sorted = [...list];
  for (let width = 1; width < sorted.length; width *= 2) {
    const merged: unknown[] = [];
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = Math.min(start + width, sorted.length);
      const end = Math.min(start + 2 * width, sorted.length);
      let left = start;
      let right = middle;
      while (left < middle && right < end) {
        merged.push((await comesAfter(sorted[left], sorted[right])) ? sorted[right++] : sorted[left++]);
      }
      while (left < middle) merged.push(sorted[left++]);
      while (right < end) merged.push(sorted[right++]);
    }
    sorted = merged;
  }
  return sorted;
}

/** Equal for two values exactly where JSONata's `=` finds them equal. */
function identityOf(value: unknown): unknown {
  if (typeof value === 'string') return `text ${value}`;
  if (typeof value !== 'object' || value === null || isFunctionValue(value)) return value;
  return `data ${JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  })}`;
}

/** Spaces that `JSON.stringify` puts before the parts of a value, at two for each level. */
function indentation(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || isFunctionValue(value)) return 0;
  let spaces = 2 * depth;
  for (const part of Object.values(value) as unknown[]) {
    spaces += 2 * depth + indentation(part, depth + 1);
    if (spaces > limits.length) break;
  }
  return spaces;
}
