import type { JsonValue } from '../common/index.js';

export { durationText, table } from '../common/index.js';

/** `2030-01-01 09:30:00Z` */
export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** JSON in one line, cut off where it gets long, with how to see all of it. */
export function shortJson(value: JsonValue, longest = 160, remedy = '--json shows all'): string {
  const text = JSON.stringify(value);
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}…${remedy === '' ? '' : ` (${text.length} characters, ${remedy})`}`;
}

/** Texts come from handlers: no line break and no control character of theirs reaches the terminal. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
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
