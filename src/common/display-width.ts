import { harmless } from './plain-text.js';

/** Made when the first line is shown: it takes as long as to check a small file. */
let segmenter: Intl.Segmenter | undefined;

const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const zero = /^[\p{Mark}\u200b-\u200f\u2060\ufeff]+$/u;
const tabWidth = 4;

/** One character as a terminal shows it. */
export interface Cell {
  /** What to print: tabs as spaces, control characters as their pictures. */
  readonly text: string;
  /** Of its first UTF-16 unit in the line, and how many it has. */
  readonly offset: number;
  readonly length: number;
  /** Columns that it takes. */
  readonly width: number;
}

/** A line of text as a terminal shows it, character by character. */
export function cellsOf(line: string): Cell[] {
  const cells: Cell[] = [];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let column = 0;
  for (const { segment, index } of segmenter.segment(line)) {
    const text =
      segment === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : harmless(segment).replaceAll('\n', '\u240a');
    const width = segment === '\t' ? text.length : zero.test(segment) ? 0 : wide.test(segment) ? 2 : 1;
    cells.push({ text, offset: index, length: segment.length, width });
    column += width;
  }
  return cells;
}
