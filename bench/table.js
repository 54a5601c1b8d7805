/**
 * One figure: of which work, what of it, how much in which unit; `target` where the design sets one.
 *
 * @typedef {{ work: string, what: string, value: number, unit: string, target?: { atMost: number } | { atLeast: number } }} Row
 */

/** @type {(row: Row) => boolean | undefined} */
export function isReached({ value, target }) {
  if (target === undefined) return undefined;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

/** @param {readonly Row[]} rows */
export function printRows(rows) {
  const cells = rows.map((row) => [row.work, row.what, `${amount(row.value)} ${row.unit}`, targetText(row)]);
  const widths = [42, 40, 22];
  for (const line of cells)
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join(' ')
        .trimEnd(),
    );
}

function targetText(row) {
  if (row.target === undefined) return '';
  const bound = 'atMost' in row.target ? `≤ ${row.target.atMost}` : `≥ ${row.target.atLeast}`;
  return isReached(row) ? bound : `${bound} (missed)`;
}

/** Three significant digits are more than the machine's noise leaves. */
export function amount(value) {
  if (value === 0 || Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}
