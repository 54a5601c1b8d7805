import type { JsonValue } from '../common/index.js';

import { Fault, tooLong, tooMuch } from './fault.js';
import { limits } from './limits.js';
import { isFunctionValue } from './value-names.js';

/**
 * A deep copy of a result as plain JSON: without JSONata's flags on lists, sharing nothing with what was
 * handed in. Throws a `Fault` for what JSON cannot hold or would change (and so would differ after a
 * restart): functions, numbers that are not finite or not exact, `__proto__` as a key.
 */
export function toPlainJson(value: unknown): JsonValue {
  let weight = 0;

  const copy = (part: unknown, path: string, depth: number): JsonValue => {
    if (++weight > limits.weight) throw tooMuch();
    switch (typeof part) {
      case 'boolean':
        return part;
      case 'string':
        if (part.length > limits.length) throw tooLong('a string');
        weight += part.length;
        return part;
      case 'number':
        return exactNumber(part, path);
      case 'object':
        if (part === null) return null;
        if (depth > limits.nesting) throw new Fault('limit', `the result is nested more than ${limits.nesting} deep`);
        if (isFunctionValue(part)) break;
        if (Array.isArray(part)) {
          if (part.length > limits.length) throw tooLong('a list');
          return Array.from(part, (item, index) => copy(item, `${path}[${index}]`, depth + 1));
        }
        return copyObject(part, path, depth);
    }
    throw new Fault('not-json', `${place(path)} is ${part === undefined ? 'absent' : 'a function'}, not a value`);
  };

  const copyObject = (part: object, path: string, depth: number): JsonValue => {
    const result: Record<string, JsonValue> = {};
    for (const [key, content] of Object.entries(part)) {
      if (key === '__proto__')
        throw new Fault('not-json', `${place(path)} has the key \`__proto__\`, which is not allowed`);
      weight += key.length;
      if (content !== undefined) result[key] = copy(content, path === '' ? key : `${path}.${key}`, depth + 1);
    }
    return result;
  };

  return copy(value, '', 0);
}

function place(path: string): string {
  return path === '' ? 'the result' : `\`${path}\` of the result`;
}

function exactNumber(value: number, path: string): number {
  if (!Number.isFinite(value)) throw new Fault('not-json', `${place(path)} is not a finite number`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Fault(
      'not-json',
      `${place(path)} is a whole number beyond ±2^53, which cannot be kept exactly; make it text`,
    );
  }
  // JSON has no negative zero: what is read back after a restart must equal what was computed.
  return value === 0 ? 0 : value;
}
