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

/**
 * Turns any value into JSON text as `JSON.stringify` does (`undefined` members are dropped, `toJSON`
 * is honoured), but refuses what would be lost in silence: functions, symbols, bigints, non-finite
 * numbers, cycles, maps, sets, promises, regular expressions and errors.
 *
 * @throws RunsheetError `RS_NOT_JSON` naming the path inside the value (`$.items[3].price`),
 *   `RS_PAYLOAD_TOO_LARGE` beyond `maxBytes` of UTF-8.
 */
export function toJsonText(value: unknown, maxBytes = Number.POSITIVE_INFINITY): JsonText {
  checkJson(value, '$', []);
  const text = JSON.stringify(value);
  // A UTF-16 unit is at most three bytes of UTF-8, so most values need no count.
  if (text.length * 3 > maxBytes) {
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) {
      throw new RunsheetError(
        'RS_PAYLOAD_TOO_LARGE',
        `the value has ${bytes} bytes as JSON, more than the ${maxBytes} that are stored; ` +
          'keep large data in a file or database and pass on where it is',
      );
    }
  }
  return new JsonText(text);
}

function checkJson(value: unknown, path: string, ancestors: object[]): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, String(value));
      return;
    case 'object':
      if (value !== null) checkObject(value, path, ancestors);
      return;
    case 'undefined':
      throw notJson(path, 'undefined');
    default:
      throw notJson(path, `a ${typeof value}`);
  }
}

function checkObject(value: object, path: string, ancestors: object[]): void {
  if (ancestors.includes(value)) throw notJson(path, 'a cycle');
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    checkJson(value.toJSON(''), path, [...ancestors, value]);
    return;
  }
  ancestors.push(value);
  if (Array.isArray(value)) {
    // By index: a hole is `undefined` too, and JSON would make it null.
    for (let index = 0; index < value.length; index += 1) checkJson(value[index], `${path}[${index}]`, ancestors);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (lossy.some((type) => value instanceof type)) throw notJson(path, `a ${value.constructor.name}`);
    if (prototype === null || typeof prototype === 'object') {
      for (const [key, member] of Object.entries(value)) {
        if (member !== undefined) checkJson(member, memberPath(path, key), ancestors);
      }
    }
  }
  ancestors.pop();
}

/** What `JSON.stringify` turns into `{}` without a word. */
const lossy = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer];

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function notJson(path: string, what: string): RunsheetError {
  return new RunsheetError('RS_NOT_JSON', `JSON cannot hold ${what} (at ${path})`);
}
