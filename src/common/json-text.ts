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
  const loss = lossIn(value, []);
  if (loss !== undefined) throw notJson(`$${loss.path.reverse().join('')}`, loss.what);
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

/** What JSON would lose, and where below the value: innermost step of the path first. */
interface Loss {
  readonly what: string;
  readonly path: string[];
}

/** Looks for what would be lost. No path is made up unless there is such a thing: nearly always there is none. */
function lossIn(value: unknown, ancestors: object[]): Loss | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { what: String(value), path: [] };
    case 'object':
      return value === null ? undefined : lossInObject(value, ancestors);
    case 'undefined':
      return { what: 'undefined', path: [] };
    default:
      return { what: `a ${typeof value}`, path: [] };
  }
}

function lossInObject(value: object, ancestors: object[]): Loss | undefined {
  if (ancestors.includes(value)) return { what: 'a cycle', path: [] };
  ancestors.push(value);
  const loss = lossInMembers(value, ancestors);
  ancestors.pop();
  return loss;
}

function lossInMembers(value: object, ancestors: object[]): Loss | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function') return lossIn(value.toJSON(''), ancestors);
  if (Array.isArray(value)) {
    // By index: a hole is `undefined` too, and JSON would make it null.
    for (let index = 0; index < value.length; index += 1) {
      const loss = lossIn(value[index], ancestors);
      if (loss !== undefined) return below(`[${index}]`, loss);
    }
    return undefined;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype && lossy.some((type) => value instanceof type)) {
    return { what: `a ${value.constructor.name}`, path: [] };
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    const loss = member === undefined ? undefined : lossIn(member, ancestors);
    if (loss !== undefined) return below(memberStep(key), loss);
  }
  return undefined;
}

function below(step: string, loss: Loss): Loss {
  loss.path.push(step);
  return loss;
}

/** What `JSON.stringify` turns into `{}` without a word. */
const lossy = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error, ArrayBuffer];

function memberStep(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function notJson(path: string, what: string): RunsheetError {
  return new RunsheetError('RS_NOT_JSON', `JSON cannot hold ${what} (at ${path})`);
}
