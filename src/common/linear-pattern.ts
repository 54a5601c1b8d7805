import { createRequire } from 'node:module';
import type * as Re2Module from 're2js';
import type { RE2JS } from 're2js';

// Loaded with the first pattern: most flows have none. Synchronous, since compiling is.
const load = createRequire(import.meta.url);

/**
 * Characters times size of the compiled expression: about a second in the worst case. A search takes linear time, but
 * `\p{L}{1000}` is a thousand states for each character.
 */
const mostSteps = 20_000_000;

/** A regular expression of JavaScript that cannot backtrack. */
export interface LinearPattern {
  readonly compiled: RE2JS;
  /** Whether a search through a text of this length stays within the bound for one search. */
  canSearch(length: number): boolean;
}

/** Throws if the expression needs backtracking (look-around, back references), or RE2 does not know what it asks for. */
export function linearPattern(
  source: string,
  flags: { readonly ignoreCase?: boolean; readonly multiline?: boolean; readonly dotAll?: boolean } = {},
): LinearPattern {
  const { RE2JS: re2 } = load('re2js') as typeof Re2Module;
  let set = 0;
  if (flags.ignoreCase === true) set |= re2.CASE_INSENSITIVE;
  if (flags.multiline === true) set |= re2.MULTILINE;
  const compiled = re2.compile(re2.translateRegExp(asRe2(source, flags.dotAll === true)), set);
  const size = compiled.programSize();
  return { compiled, canSearch: (length) => length * size <= mostSteps };
}

const lineEnds = String.raw`\n\r\x{2028}\x{2029}`;
const spaces = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const otherThanSpaces =
  String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;

/** What RE2 reads otherwise than JavaScript: its `\s` is ASCII, its `.` stops at line feeds alone. */
function asRe2(source: string, dotAll: boolean): string {
  let result = '';
  let isInClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === '\\') {
      index += 1;
      result += escapeAsRe2(source.charAt(index), isInClass);
    } else if (isInClass) {
      // RE2 takes `[:alpha:]` inside a class for one of POSIX.
      result += character === '[' ? '\\[' : character;
      isInClass = character !== ']';
    } else if (character === '[') {
      const opening = /^\[\^?\]?/.exec(source.slice(index, index + 3))?.[0] ?? '[';
      result += opening;
      index += opening.length - 1;
      // `[]` and `[^]` are whole classes in JavaScript.
      isInClass = !opening.endsWith(']');
    } else if (character === '.') {
      result += dotAll ? String.raw`[\x00-\x{10FFFF}]` : `[^${lineEnds}]`;
    } else {
      result += character;
    }
  }
  return result;
}

function escapeAsRe2(letter: string, isInClass: boolean): string {
  switch (letter) {
    case 's':
      return isInClass ? spaces : `[${spaces}]`;
    case 'S':
      return isInClass ? otherThanSpaces : `[${otherThanSpaces}]`;
    case 'v':
      return String.raw`\x0b`;
    case '0':
      return String.raw`\x00`;
    case 'b':
      return isInClass ? String.raw`\x08` : String.raw`\b`;
    // No escapes in JavaScript, which takes them for the letter.
    case 'a':
    case 'A':
    case 'C':
    case 'E':
    case 'Q':
    case 'z':
      return letter;
    default:
      return `\\${letter}`;
  }
}
