import { cutTo, padEnd, widthOf } from './columns.js';
import { oneLine } from './plain-text.js';

type Row = readonly string[];

/** Rows in aligned columns, two spaces apart; the last column is not padded. */
export function table(rows: readonly Row[]): string {
  return aligned(shown(rows));
}

/** A cell is one line, whatever text it holds. */
function shown(rows: readonly Row[]): Row[] {
  return rows.map((row) => row.map(oneLine));
}

function aligned(rows: readonly Row[]): string {
  const widths = widthsOf(rows);
  const lines = rows.map((row) => lineOf(row, widths));
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * A table on a screen. Where it is too wide, each row is what its first column says and the others below it, in
 * as many lines as they need, aligned all the same; of a row without a first column the others only.
 *
 * @param columns of the screen; undefined where lines may be of any length
 */
export function fittedTable(given: readonly Row[], columns: number | undefined): string {
  const rows = shown(given);
  const widths = widthsOf(rows);
  const total = widths.reduce((sum, width) => sum + width + gap.length, -gap.length);
  if (columns === undefined || total <= columns) return aligned(rows);
  const groups = groupsOf(widths, columns);
  const lines = rows.flatMap((row) => [
    row[0] ?? '',
    ...groups.map(({ from, to }) => {
      const text = lineOf(row.slice(from, to), widths.slice(from, to));
      return text === '' ? '' : gap + text;
    }),
  ]);
  return lines
    .filter((line) => line !== '')
    .map((line) => `${cutTo(line, columns)}\n`)
    .join('');
}

const gap = '  ';

function widthsOf(rows: readonly Row[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  }
  return widths;
}

function lineOf(row: Row, widths: readonly number[]): string {
  return row
    .map((cell, column) => padEnd(cell, widths[column] ?? 0))
    .join(gap)
    .trimEnd();
}

/** As many columns as fit side by side, then the next ones; the first one stands alone. */
function groupsOf(widths: readonly number[], columns: number): { readonly from: number; readonly to: number }[] {
  const groups: { from: number; to: number }[] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (let column = 1; column < widths.length; column += 1) {
    const width = gap.length + (widths[column] ?? 0);
    const group = groups.at(-1);
    if (group !== undefined && taken + width <= columns) {
      group.to = column + 1;
      taken += width;
    } else {
      groups.push({ from: column, to: column + 1 });
      taken = width;
    }
  }
  return groups;
}
