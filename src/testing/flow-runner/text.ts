import type { JsonValue } from '../../common/index.js';

/** JSON in one line for messages, cut off where it gets long. */
export function shortJson(value: JsonValue, longest = 160): string {
  const text = JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** `charge`, or `pick#3` in the fourth turn. */
export function placeText(step: string, occurrence: string): string {
  return occurrence === '0' ? step : `${step}#${occurrence}`;
}

/** `1 call`, `2 calls` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
