import { RunsheetError } from './errors.js';
import type { JsonValue } from './json.js';

/**
 * The text of RFC 8785 (JSON Canonicalization Scheme): no white space, members sorted by the UTF-16 code
 * units of their names, numbers and strings as ECMAScript writes them. Equal values have equal texts.
 *
 * Strict: what JSON cannot hold (undefined, functions, symbols, big integers, NaN, infinities, lone
 * surrogates, cycles, instances of classes such as Date) throws `RS_NOT_JSON` naming the path, since a hash over
 * something silently dropped would make different values equal.
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, [], new Set());
}

/** With the `u` flag a pair is one character, so only half of one is a surrogate. */
const loneSurrogate = /\p{Surrogate}/u;

function write(value: unknown, path: (string | number)[], open: Set<object>): string {
  switch (typeof value) {
    case 'string':
      if (loneSurrogate.test(value)) throw notJson(path, 'text with half of a surrogate pair');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, String(value));
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : writeContainer(value, path, open);
    default:
      throw notJson(path, typeof value);
  }
}

function writeContainer(value: object, path: (string | number)[], open: Set<object>): string {
  if (open.has(value)) throw notJson(path, 'a value that contains itself');
  open.add(value);
  const text = Array.isArray(value) ? writeArray(value, path, open) : writeObject(value, path, open);
  open.delete(value);
  return text;
}

function writeArray(value: readonly unknown[], path: (string | number)[], open: Set<object>): string {
  const parts: string[] = [];
  // Counted, not mapped: `map` skips the holes of a sparse array.
  for (let index = 0; index < value.length; index += 1) parts.push(write(value[index], [...path, index], open));
  return `[${parts.join(',')}]`;
}

function writeObject(value: object, path: (string | number)[], open: Set<object>): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(path, `an instance of ${className(value)}`);
  // The default order of `sort` is that of UTF-16 code units, which is the RFC's.
  const parts = Object.keys(value)
    .sort()
    .map((name) => {
      if (loneSurrogate.test(name)) throw notJson([...path, name], 'a name with half of a surrogate pair');
      return `${JSON.stringify(name)}:${write((value as Record<string, unknown>)[name], [...path, name], open)}`;
    });
  return `{${parts.join(',')}}`;
}

function className(value: object): string {
  return value.constructor?.name ?? 'a class';
}

function notJson(path: (string | number)[], what: string): RunsheetError {
  const place = path.length === 0 ? 'the value itself' : `/${path.join('/')}`;
  return new RunsheetError('RS_NOT_JSON', `JSON cannot hold ${what} (at ${place})`);
}
