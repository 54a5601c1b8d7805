import { cellsOf } from '../syntax/index.js';

/** Columns of a terminal that a text takes. */
export function widthOf(text: string): number {
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
