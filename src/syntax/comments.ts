import type { Range, Source } from './source.js';
import { yamlLibrary } from './yaml-library.js';

/** A comment of a text, and the lines to which it belongs: 1-based, the last one inclusive. */
export interface Comment {
  /** From the `#` to the end of the line. */
  readonly text: string;
  readonly range: Range;
  /**
   * One at the end of a line: that line, and the other lines of a text in quotes or of a block that ends or begins there.
   * One on a line of its own: the next line that is neither empty nor a comment, with all lines of a text that begins there.
   * Undefined where nothing follows.
   */
  readonly lines?: { readonly first: number; readonly last: number };
}

/** All comments of a text, in order. Never throws: what is no YAML has the comments that can be made out. */
export function commentsOf(source: Source): Comment[] {
  const { comments, texts } = scan(source);
  return comments.map(({ text, start }) => {
    const range = { start, end: start + text.length };
    const { line } = source.position(start);
    const isAlone = source.line(line).trimStart().startsWith('#');
    if (!isAlone) return { text, range, lines: withWholeTexts(line, texts) };
    const next = nextLine(source, line + 1);
    return { text, range, ...(next !== undefined && { lines: withWholeTexts(next, texts) }) };
  });
}

/** First and last line of what is written over several lines. */
interface Lines {
  readonly first: number;
  readonly last: number;
}

const marker = { document: '\u0002', flowError: '\u0018', scalar: '\u001f' } as const;

/** The lexer alone knows what is a comment and what only looks like one; its markers take no place in the text. */
function scan(source: Source): { comments: { text: string; start: number }[]; texts: Lines[] } {
  const { CST, Lexer } = yamlLibrary();
  const comments: { text: string; start: number }[] = [];
  const texts: Lines[] = [];
  let offset = 0;
  let isScalar = false;
  let header: number | undefined;
  for (const lexeme of new Lexer().lex(source.text)) {
    if (lexeme === marker.document || lexeme === marker.flowError) continue;
    if (lexeme === marker.scalar) {
      isScalar = true;
      continue;
    }
    const type = isScalar ? 'scalar' : CST.tokenType(lexeme);
    isScalar = false;
    if (type === 'comment') comments.push({ text: lexeme.trimEnd(), start: offset });
    else if (type === 'block-scalar-header') header = offset;
    else if (type === 'scalar' || type === 'double-quoted-scalar' || type === 'single-quoted-scalar') {
      const first = source.position(header ?? offset).line;
      const last = source.position(offset + lexeme.trimEnd().length).line;
      if (last > first) texts.push({ first, last });
      header = undefined;
    }
    offset += lexeme.length;
  }
  return { comments, texts };
}

function withWholeTexts(line: number, texts: readonly Lines[]): Lines {
  let [first, last] = [line, line];
  for (const text of texts) {
    if (text.first !== line && text.last !== line) continue;
    first = Math.min(first, text.first);
    last = Math.max(last, text.last);
  }
  return { first, last };
}

function nextLine(source: Source, from: number): number | undefined {
  const { line: count } = source.position(source.text.length);
  for (let line = from; line <= count; line += 1) {
    const text = source.line(line).trim();
    if (text !== '' && !text.startsWith('#')) return line;
  }
  return undefined;
}
