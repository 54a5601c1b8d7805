import type { TextNode } from '../tree.js';
import { giveUp } from './not-plain.js';
import { replayed } from './scalars.js';
import type { Scanner } from './scanner.js';

/** Style, indentation, what becomes of the last line breaks, and perhaps a comment. */
const headerLine = /([|>](?:([1-9])[-+]?|[-+]([1-9])?)?)(?: +(?:#[^\n]*)?)?\n/y;

/**
 * Reads `|` or `>` and the lines of text below, and ends at the beginning of the line after them.
 *
 * @param indent of the collection around it; its lines are deeper
 */
export function readBlockScalar(scanner: Scanner, indent: number): TextNode {
  const { text, at: start } = scanner;
  headerLine.lastIndex = start;
  const [line, header = '', before, after] = headerLine.exec(text) ?? [];
  if (line === undefined || indent < 0) giveUp();
  const offset = start + line.length;
  const explicit = before ?? after;
  const end = endOfLines(text, offset, {
    indent,
    explicit: explicit === undefined ? undefined : indent + Number(explicit),
    keepsEmptyLines: header.includes('+'),
  });
  scanner.at = end;
  const style = header.startsWith('|') ? 'literal' : 'folded';
  return replayed({ style, header, source: text.slice(offset, end), offset, indent }, { start, end });
}

interface Lines {
  /** Of the collection around. */
  readonly indent: number;
  /** Of the lines, where the header says it; else it is that of the first line that is not empty. */
  readonly explicit: number | undefined;
  /** Those at the end are part of the text. */
  readonly keepsEmptyLines: boolean;
}

function endOfLines(text: string, start: number, { indent, explicit, keepsEmptyLines }: Lines): number {
  const first = firstLine(text, start);
  const least = explicit ?? first.indent;
  if (first.indent <= indent || first.indent < least || first.emptyIndent > least) giveUp();
  let end = first.start;
  for (let at = first.start; ;) {
    const column = spacesAt(text, at);
    const character = text[at + column];
    if (character === undefined) {
      // Spaces at the end of the text are no line.
      if (column > 0) giveUp();
      return end;
    }
    const isEmpty = character === '\n';
    if (!isEmpty && column < least) return end;
    const newline = text.indexOf('\n', at + column);
    at = newline < 0 ? text.length : newline + 1;
    // What is indented deeper than the text is text, even if there is nothing else.
    if (!isEmpty || keepsEmptyLines || column > first.indent) end = at;
  }
}

/** The first line that is not empty, and how deep the emptiest lines before it are indented. */
function firstLine(text: string, from: number): { start: number; indent: number; emptyIndent: number } {
  let emptyIndent = 0;
  for (let start = from; ;) {
    const indent = spacesAt(text, start);
    if (text[start + indent] === undefined) giveUp();
    if (text[start + indent] !== '\n') return { start, indent, emptyIndent };
    emptyIndent = Math.max(emptyIndent, indent);
    start += indent + 1;
  }
}

function spacesAt(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ') end += 1;
  return end - at;
}
