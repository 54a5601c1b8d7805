import { instantText, isInstant } from '../common/index.js';

export { countText, durationText, firstOf, oneLine, placeText, printedJson, shortJson } from '../common/index.js';

/** `2030-01-01 09:30:00Z` */
export function timeText(epochMs: number): string {
  return instantText(epochMs)
    .replace(/(\d)T/, '$1 ')
    .replace(/\.\d+Z$/, 'Z');
}

/** `2030-01-01 10:30 Europe/Berlin` */
export function zonedTimeText(epochMs: number, timezone: string): string {
  if (!isInstant(epochMs)) return instantText(epochMs);
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(epochMs)} ${timezone}`;
}

/** Digits of an id that are enough to know it by, among few. */
const shortIdLength = 'wf_'.length + 8;

/** The beginning of an id, by which it can be named as long as no other begins so. */
export function shortId(id: string): string {
  return id.slice(0, shortIdLength);
}

/** The same of several: as long as it takes to tell them apart. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  let length = shortIdLength;
  const count = new Set(ids).size;
  while (length < 35 && new Set(ids.map((id) => id.slice(0, length))).size < count) length += 2;
  return (id) => id.slice(0, length);
}

/** Enough of a hash to tell it from others by eye. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}

/** `a, b and 3 more` */
export function someOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(', ')} and ${more} more` : names.join(', ');
}
