export { countText, durationText, placeText, shortJson, table } from '../common/index.js';

/** `2030-01-01 09:30:00Z` */
export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** Texts come from handlers: no line break and no control character of theirs reaches the terminal. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
}

/** `2030-01-01 10:30 Europe/Berlin` */
export function zonedTimeText(epochMs: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(epochMs)} ${timezone}`;
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
