import type { JsonValue } from './json.js';
import { printedJson } from './plain-text.js';

/** The first lines of many, and how many more there are. */
export function firstOf(lines: readonly string[], most: number): string[] {
  const more = lines.length - most;
  return more > 0 ? [...lines.slice(0, most), `  and ${more} more`] : [...lines];
}

/** `1 error`, `2 errors` */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** JSON in one line, cut off where it gets long; with a remedy also how long it is and how to see all of it. */
export function shortJson(value: JsonValue, longest = 160, remedy?: string): string {
  const text = printedJson(value);
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}…${remedy === undefined ? '' : ` (${text.length} characters, ${remedy})`}`;
}

/** An item in a turn of its loops: `charge`, or `pick#3.1` in the second turn inside the fourth. */
export function placeText(step: string, occurrence: string | null): string {
  return occurrence === null || occurrence === '0' || occurrence === '' ? step : `${step}#${occurrence}`;
}
