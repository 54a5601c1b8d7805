import { types } from 'node:util';
import { RunsheetError } from './errors.js';
import type { JsonValue } from './json.js';

/** JSON in the form it is stored in, read only when somebody looks: a resumed run parses what it uses. */
export class JsonText {
  #text: string | (() => string);
  #value: JsonValue | undefined;

  /** @param text the JSON, or how to make it when it is wanted */
  constructor(text: string | (() => string)) {
    this.#text = text;
  }

  get text(): string {
    if (typeof this.#text === 'function') this.#text = this.#text();
    return this.#text;
  }

  /** The parsed value, the same object each time: whoever hands it to foreign code hands out a copy. */
  get value(): JsonValue {
    this.#value ??= JSON.parse(this.text) as JsonValue;
    return this.#value;
  }

  /** A copy that its receiver may change. */
  copy(): JsonValue {
    return JSON.parse(this.text) as JsonValue;
  }
}

/** Lists and maps inside one another in a value that is stored: as deep as formulas may go, and all that walks a value can. */
export const deepestNesting = 1000;

/**
 * Turns any value into JSON text as `JSON.stringify` does (`undefined` members are dropped, `toJSON`
 * is honoured), but refuses what would be lost in silence: functions, symbols, bigints, numbers and dates that are
 * none, cycles, maps, sets, promises, regular expressions and errors.
 *
 * The value may be anything foreign: each part of it is read once, what it throws is a refusal, and its size counts
 * while it is written, since parts that are shared can make a small value endless.
 *
 * @throws RunsheetError `RS_NOT_JSON` naming the path inside the value (`$.items[3].price`),
 *   `RS_PAYLOAD_TOO_LARGE` beyond `maxBytes` of UTF-8.
 */
export function toJsonText(value: unknown, maxBytes = largestText, maxDepth = deepestNesting): JsonText {
  const text = new Writer(maxBytes, maxDepth).write(value);
  // A UTF-16 unit is at most three bytes of UTF-8, so most values need no count.
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) throw tooLarge(maxBytes);
  return new JsonText(text);
}

/** Longer texts cannot be held (half of what V8 can). */
const largestText = 2 ** 28;

/** One walk through a value, which makes its text. */
class Writer {
  readonly #maxBytes: number;
  readonly #maxDepth: number;
  readonly #ancestors: object[] = [];
  /** UTF-16 units so far, of which each is at least a byte. */
  #length = 0;

  constructor(maxBytes: number, maxDepth: number) {
    this.#maxBytes = maxBytes;
    this.#maxDepth = maxDepth;
  }

  write(value: unknown): string {
    try {
      const text = this.#text(value, '');
      if (text === undefined) throw new Loss('undefined');
      return text;
    } catch (error) {
      if (error instanceof TooLarge) throw tooLarge(this.#maxBytes);
      const { path, what } = lossOf(error);
      throw notJson(`$${path.reverse().join('')}`, what);
    }
  }

  /** Undefined for `undefined` alone. */
  #text(value: unknown, key: string): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'boolean':
        return this.#count(value ? 'true' : 'false');
      case 'number':
        if (!Number.isFinite(value)) throw new Loss(String(value));
        return this.#count(value === 0 ? '0' : `${value}`);
      case 'object':
        return value === null ? this.#count('null') : this.#object(value, key);
      case 'undefined':
        return undefined;
      default:
        throw new Loss(`a ${typeof value}`);
    }
  }

  #count(text: string): string {
    this.#length += text.length;
    if (this.#length > this.#maxBytes) throw new TooLarge();
    return text;
  }

  #string(value: string): string {
    // Before it is written: a text of a gigabyte is not copied to be refused.
    if (this.#length + value.length > this.#maxBytes) throw new TooLarge();
    return this.#count(quoted(value));
  }

  #object(value: object, key: string): string | undefined {
    if (this.#ancestors.includes(value)) throw new Loss('a cycle');
    if (this.#ancestors.length >= this.#maxDepth) {
      throw new Loss(`lists and maps more than ${this.#maxDepth} deep in one another`);
    }
    this.#ancestors.push(value);
    const text = this.#container(value, key);
    this.#ancestors.pop();
    return text;
  }

  #container(value: object, key: string): string | undefined {
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') {
      // Its own answer is null.
      if (types.isDate(value) && Number.isNaN(value.getTime())) throw new Loss('an invalid Date');
      const text = this.#text(toJSON.call(value, key), key);
      if (text === undefined) throw new Loss('undefined');
      return text;
    }
    if (Array.isArray(value)) return this.#list(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      // A `Number`, `String`, `Boolean`, `BigInt` or `Symbol` object.
      if (types.isBoxedPrimitive(value)) return this.#text(value.valueOf(), key);
      refuseLossy(value);
    }
    return this.#map(value as Readonly<Record<string, unknown>>);
  }

  #list(list: readonly unknown[]): string {
    const { length } = list;
    // By index: a hole is `undefined` too, and JSON would make it null.
    let text = '[';
    for (let index = 0; index < length; index += 1) {
      let item: string | undefined;
      try {
        item = this.#text(list[index], '');
        if (item === undefined) throw new Loss('undefined');
      } catch (error) {
        throw below(error, `[${index}]`);
      }
      text += index === 0 ? item : `,${item}`;
    }
    this.#count(',]');
    return `${text}]`;
  }

  #map(map: Readonly<Record<string, unknown>>): string {
    let text = '{';
    for (const key of Object.keys(map)) {
      let member: string | undefined;
      try {
        member = this.#text(map[key], key);
      } catch (error) {
        throw below(error, memberStep(key));
      }
      if (member === undefined) continue;
      text += `${text.length === 1 ? '' : ','}${this.#string(key)}:${member}`;
    }
    this.#count(',}');
    return `${text}}`;
  }
}

/** What JSON would lose, and where below the value: innermost step of the path first. */
class Loss extends Error {
  readonly path: string[] = [];

  constructor(readonly what: string) {
    super(what);
  }
}

/** Nothing in it needs an escape: most texts, and all names of fields. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function quoted(text: string): string {
  return text.length < 64 && plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The size limit is reached. */
class TooLarge extends Error {}

/** Whatever else is thrown on the walk comes from a getter, a trap or a `toJSON`. */
function lossOf(error: unknown): Loss {
  return error instanceof Loss ? error : new Loss('what throws when it is read');
}

function below(error: unknown, step: string): Error {
  if (error instanceof TooLarge) return error;
  const loss = lossOf(error);
  loss.path.push(step);
  return loss;
}

/** What `JSON.stringify` turns into `{}`, or into null, without a word. */
const lossy = [
  ...[Map, Set, WeakMap, WeakSet, WeakRef, Promise, RegExp, Error, ArrayBuffer, SharedArrayBuffer, DataView],
  ...[URLSearchParams, Headers, FormData, Blob, Request, Response],
];

function refuseLossy(value: object): void {
  if (lossy.some((type) => value instanceof type)) throw new Loss(`a ${className(value)}`);
}

function className(value: object): string {
  const { name } = value.constructor as { name?: unknown };
  return typeof name === 'string' ? name : 'class instance';
}

function memberStep(key: string): string {
  const shown = key.length > 100 ? `${key.slice(0, 100)}…` : key;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
}

function tooLarge(maxBytes: number): RunsheetError {
  return new RunsheetError(
    'RS_PAYLOAD_TOO_LARGE',
    `the value has more than ${maxBytes} bytes as JSON, which is the most that is stored; ` +
      'keep large data in a file or database and pass on where it is',
  );
}

/** A deep path says enough by its ends. */
function notJson(path: string, what: string): RunsheetError {
  const shown = path.length > 300 ? `${path.slice(0, 150)}…${path.slice(-150)}` : path;
  return new RunsheetError('RS_NOT_JSON', `JSON cannot hold ${what} (at ${shown})`);
}
