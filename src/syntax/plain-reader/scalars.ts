import { textScalar, wordScalar } from '../scalar-nodes.js';
import { type WrittenScalar, replayScalar } from '../scalar-offsets.js';
import * as rules from '../scalar-rules.js';
import type { ScalarNode, TextNode } from '../tree.js';
import { giveUp } from './not-plain.js';
import { type Scanner, isBlank } from './scanner.js';

/** Reads a scalar that stands on one line. Whether it is a key or a value only what follows tells. */
export function readText(scanner: Scanner, inFlow: boolean): TextNode {
  switch (scanner.character) {
    case "'":
      return readSingleQuoted(scanner);
    case '"':
      return readDoubleQuoted(scanner);
    default:
      return readUnquoted(scanner, inFlow);
  }
}

/** What is read as the key of a map. */
export function asKey(text: TextNode): TextNode {
  const { value, style, range } = text;
  const isPlain = style === 'plain';
  // Half of a formula with a colon in it.
  if (isPlain && value.startsWith('=')) giveUp();
  if (rules.keyProblem(value, isPlain, range) !== undefined) giveUp();
  if (isPlain && rules.booleanWordProblem(value, 'key', range) !== undefined) giveUp();
  return text;
}

/** What is read as a value: without quotes it may be a number, `true`, `false` or `null`. */
export function asValue(text: TextNode): ScalarNode {
  const { value: source, style, range } = text;
  if (style !== 'plain') return text;
  if (rules.booleanWordProblem(source, 'value', range) !== undefined) giveUp();
  const value = rules.coreValue(source);
  if (typeof value === 'string') return text;
  if (typeof value === 'number' && rules.numberProblem(source, value, range) !== undefined) giveUp();
  return wordScalar(value, range);
}

function readUnquoted(scanner: Scanner, inFlow: boolean): TextNode {
  const { text, at: offset } = scanner;
  if (!canBegin(text, offset, inFlow)) giveUp();
  const end = endOfUnquoted(text, offset, inFlow);
  scanner.at = end;
  const source = text.slice(offset, end);
  return textScalar(source, { start: offset, end }, 'plain', { style: 'plain', source, offset });
}

/** `---` and `...` are kept out wherever they stand: at the beginning of a line they separate documents. */
function canBegin(text: string, at: number, inFlow: boolean): boolean {
  const character = text[at];
  if (isBlank(character) || '?:,[]{}#&*!|>\'"%@`'.includes(character ?? '')) return false;
  if (character === '.') return !text.startsWith('...', at);
  if (character !== '-') return true;
  const next = text[at + 1];
  return !isBlank(next) && !(inFlow && isFlowIndicator(next)) && !text.startsWith('---', at);
}

function endOfUnquoted(text: string, start: number, inFlow: boolean): number {
  let end = start;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\n') break;
    if (character === ' ') {
      if (text[at + 1] === '#') break;
      continue;
    }
    if (character === ':') {
      const next = text[at + 1];
      if (isBlank(next) || (inFlow && isFlowIndicator(next))) break;
    } else if (inFlow && isFlowIndicator(character)) break;
    end = at + 1;
  }
  return end;
}

function isFlowIndicator(character: string | undefined): boolean {
  switch (character) {
    case ',':
    case '[':
    case ']':
    case '{':
    case '}':
      return true;
    default:
      return false;
  }
}

function readSingleQuoted(scanner: Scanner): TextNode {
  const { text, at } = scanner;
  let end = at + 1;
  while (text[end] !== "'" || text[end + 1] === "'") {
    if (text[end] === undefined || text[end] === '\n') giveUp();
    end += text[end] === "'" ? 2 : 1;
  }
  return quoted(scanner, 'single', end + 1, "''");
}

function readDoubleQuoted(scanner: Scanner): TextNode {
  const { text, at } = scanner;
  let end = at + 1;
  while (text[end] !== '"') {
    if (text[end] === undefined || text[end] === '\n') giveUp();
    if (text[end] === '\\') {
      escape.lastIndex = end;
      if (!escape.test(text)) giveUp();
      end = escape.lastIndex;
    } else end += 1;
  }
  return quoted(scanner, 'double', end + 1, '\\');
}

/** Those that stand on one line and are right whatever follows. */
const escape = /\\(?:[0abefnrtvN_LP "/\\]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/y;

/** `mark` is what stands in the source wherever it is not the value itself. */
function quoted(scanner: Scanner, style: 'single' | 'double', end: number, mark: string): TextNode {
  const { text, at: offset } = scanner;
  scanner.at = end;
  const source = text.slice(offset, end);
  const inside = source.slice(1, -1);
  return inside.includes(mark)
    ? replayed({ style, source, offset }, { start: offset, end })
    : textScalar(inside, { start: offset, end }, style, { style, source, offset });
}

/** A text whose value is not what the source says word for word. */
export function replayed(written: WrittenScalar, range: ScalarNode['range']): TextNode {
  const { text } = replayScalar(written);
  if (rules.unicodeProblem(text, range) !== undefined) giveUp();
  return textScalar(text, range, written.style, written);
}
