import { cellsOf } from './display-width.js';

/** Columns of a terminal that a text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return cellsOf(text).reduce((sum, { width }) => sum + width, 0);
}

/** A text with spaces up to a width in columns. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** A text that takes at most so many columns; `…` stands for what is cut off. */
export function cutTo(text: string, width: number): string {
  if (text.length <= width && /^[\x20-\x7e]*$/.test(text)) return text;
  const cells = cellsOf(text);
  let taken = 0;
  let shown = '';
  for (const [index, cell] of cells.entries()) {
    const isLast = index === cells.length - 1;
    if (taken + cell.width > width - (isLast ? 0 : 1)) return width < 1 ? '' : `${shown}…`;
    shown += cell.text;
    taken += cell.width;
  }
  return shown;
}

/**
 * A text in lines of at most so many columns, broken between words; all lines but the first begin with `indent` spaces.
 * What stands between backticks is one word where it fits into a line, so that it can be copied. A longer word is left
 * whole unless it has wide characters: those are written without spaces between words.
 */
export function wrap(text: string, width: number, indent = 0): string[] {
  const lines: string[] = [];
  let line = '';
  let isEmpty = true;
  for (const [, space = '', long = ''] of text.matchAll(wordsIn)) {
    for (const [index, word] of pieces(long, width - indent).entries()) {
      const gap = index > 0 && !/\s/.test(long) ? '' : index > 0 ? ' ' : space;
      if (!isEmpty && widthOf(line + gap + word) > width) {
        lines.push(line);
        line = ' '.repeat(indent) + word;
      } else line += gap + word;
      isEmpty = false;
    }
  }
  return [...lines, line];
}

/** Words with the space before them; times and what stands between backticks are one. */
const wordsIn = /(\s*)([^\s`]*`[^`]*`\S*|\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\S*|\S+)/g;

/** The words of what is too long to be one. */
function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word];
  if (/\s/.test(word)) return word.split(/\s+/).flatMap((each) => pieces(each, width));
  const cells = cellsOf(word);
  if (width < 2 || cells.every((cell) => cell.width < 2)) return [word];
  const parts: string[] = [];
  let part = '';
  let taken = 0;
  for (const cell of cells) {
    if (taken + cell.width > width) {
      parts.push(part);
      part = '';
      taken = 0;
    }
    part += cell.text;
    taken += cell.width;
  }
  return [...parts, part];
}
