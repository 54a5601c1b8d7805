import type { JsonValue } from '../common/index.js';

/** Rows in aligned columns, two spaces apart; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** `2030-01-01 09:30:00Z` */
export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** `340ms`, `12.5s`, `4m10s`, `3h20m`, `2d4h`: two units at most. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1))}s`;
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const;
  const first = units.findIndex(([, size]) => ms >= size);
  let rest = ms;
  return units
    .slice(first, first + 2)
    .map(([unit, size], index) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return index > 0 && count === 0 ? '' : `${count}${unit}`;
    })
    .join('');
}

/** JSON in one line, cut off where it gets long. */
export function shortJson(value: JsonValue, longest = 160): string {
  const text = JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters, --json shows all)`;
}

/** `charge`, or `pick#3.1` in the second turn inside the fourth. */
export function placeText(step: string, occurrence: string | null): string {
  return occurrence === null || occurrence === '0' || occurrence === '' ? step : `${step}#${occurrence}`;
}

/** `2030-01-01 10:30 Europe/Berlin` */
export function zonedTimeText(epochMs: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(epochMs)} ${timezone}`;
}

/** `1 error`, `2 errors` */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A paragraph in lines of at most so many characters, broken between words. */
export function wrapped(paragraph: string, width: number): string {
  const lines: string[] = [];
  for (const word of paragraph.split(/\s+/).filter((each) => each !== '')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}
