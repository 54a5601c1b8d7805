/**
 * The time of an ISO timestamp, in epoch milliseconds; undefined where the text is none, or names a day or an hour that
 * does not exist: `Date.parse` makes 2 March of 30 February. A date alone, down to the year alone, is its first instant in
 * UTC; a time of day must have an offset (`Z`, `+01:00`, `+0100`), since it would be the machine's zone otherwise. All
 * that `format: date-time` of a schema accepts is one.
 */
export function readTimestamp(text: string): number | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', offset] =
    match;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const date = new Date(0);
  date.setUTCFullYear(y, m - 1, d);
  if (date.getUTCMonth() !== m - 1 || date.getUTCDate() !== d) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const offsetMinutes = readOffset(offset ?? 'Z');
  if (offsetMinutes === undefined) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')));
  const time = date.getTime() - offsetMinutes * 60_000;
  // A leap second is one at the end of a day of UTC, and the computer's clock shows the next day then.
  return Number(second) < 60 || Math.floor(time / 1000) % 86_400 === 0 ? time : undefined;
}

const iso =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?([Zz]|[+-]\d{2}(?::?\d{2})?))?)?)?$/;

/** The minutes that an offset is ahead of UTC: `Z`, `+05:00`, `-0530`, `+05`. Undefined for what is none. */
export function readOffset(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0;
  const match = /^([+-])(\d{2})(?::?(\d{2}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, hours = '0', minutes = '0'] = match;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
