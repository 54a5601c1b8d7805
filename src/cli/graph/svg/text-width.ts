import { cellsOf } from '../../../common/index.js';

/** Advance widths of Helvetica (and Arial, Liberation Sans) in thousandths of the size, of the characters from 32 on. */
const helvetica = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];

/** Of what is beyond ASCII: a letter is about as wide as the widest usual ones; wide characters fill their square. */
const otherWidth = 640;
const wideWidth = 1000;
/** Bold letters are wider by about this. */
const boldFactor = 1.13;
/** Where there is no Helvetica, what comes instead may be as wide as DejaVu Sans. */
const reserve = 1.15;

/** Width of a text in pixels, near enough for boxes: the reader's font may be another one. */
export function textWidth(text: string, size: number, bold = false): number {
  let thousandths = 0;
  for (const { text: character, width } of cellsOf(text)) {
    const known = helvetica[(character.codePointAt(0) ?? 0) - 32];
    thousandths += width === 0 ? 0 : width === 2 ? wideWidth : (known ?? otherWidth);
  }
  return (thousandths / 1000) * size * reserve * (bold ? boldFactor : 1);
}
