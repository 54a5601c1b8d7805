import type { JsonValue } from './json.js';

/**
 * Reads JSON that a person or another program wrote, as YAML is read: a key that is there twice, and a whole number that
 * would be rounded, are refused, since one of the two values, or the number, would be lost without a word.
 *
 * @throws SyntaxError for all that is not to be read, with the reason
 */
export function readJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  refuseLosses(text);
  return value;
}

/** The tokens of a text that is known to be JSON, white space, colons and literals aside. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

function refuseLosses(text: string): void {
  /** For each open list or map: the keys of the map so far. */
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    switch (token[0]) {
      case '{':
        open.push(new Set());
        isKey = true;
        break;
      case '[':
        open.push(undefined);
        break;
      case '}':
      case ']':
        open.pop();
        isKey = false;
        break;
      case ',':
        isKey = open.at(-1) !== undefined;
        break;
      case '"':
        if (isKey) refuseTwice(token, open.at(-1), text, index);
        isKey = false;
        break;
      default:
        if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
          throw new SyntaxError(
            `the integer ${token}${placeOf(text, index)} is beyond ±2^53 and would be rounded to ${Number(token)}; quote it: "${token}"`,
          );
        }
    }
  }
}

function refuseTwice(token: string, keys: Set<string> | undefined, text: string, index: number): void {
  // `"a"` and `"\u0061"` are the same key.
  const key = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  if (keys?.has(key) === true)
    throw new SyntaxError(`the key ${JSON.stringify(key)}${placeOf(text, index)} is there twice`);
  keys?.add(key);
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}
