import { isInstant, isTimeZone, readOffset, zoneOffsetMs } from '../common/index.js';
import { builtIn } from './built-ins.js';
import { Fault } from './fault.js';
import { type PicturePart, partsOf, refuseLong } from './time-picture.js';

const iso = '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]';

/**
 * A time as `$fromMillis` and `$now` write it. JSONata reads an offset as one number, `+05:00` as five minutes and `-0530`
 * as six and a half hours, and writes fractions of a second as whole milliseconds: both are put into the picture here,
 * and JSONata writes the rest as if in UTC.
 */
export function formatTime(time: number, picture = iso, timezone?: string): string {
  const offset = timezone === undefined ? 0 : offsetMinutes(time, timezone);
  const shown = time + offset * 60_000;
  const year = isInstant(shown) ? new Date(shown).getUTCFullYear() : NaN;
  if (!(year >= 0 && year <= 9999)) throw new Fault('failed', 'a time must lie in the years 0 to 9999');
  const rest = partsOf(picture)
    .map((part) => ('literal' in part ? escaped(part.literal) : markerText(part, shown, offset)))
    .join('');
  return format(shown, rest);
}

function markerText(part: Exclude<PicturePart, { literal: string }>, shown: number, offset: number): string {
  if (part.component === 'f') return fraction(new Date(shown).getUTCMilliseconds(), part.presentation);
  if (part.component !== 'Z' && part.component !== 'z') return part.text;
  const ahead = Math.abs(offset);
  const text = format(0, part.text, `+${two(Math.floor(ahead / 60))}${two(ahead % 60)}`);
  return escaped(offset < 0 ? text.replace('+', '-') : text);
}

function fraction(milliseconds: number, presentation: string): string {
  const digits = String(milliseconds).padStart(3, '0');
  const wanted = presentation.replace(/\D/g, '').length;
  if (wanted === 0) throw new Fault('failed', 'a fraction of a second is written by digits: `[f001]`');
  return wanted === 1 ? digits.replace(/0{1,2}$/, '') : digits.padEnd(wanted, '0').slice(0, wanted);
}

function offsetMinutes(time: number, timezone: string): number {
  refuseLong('a time zone', timezone);
  const offset =
    readOffset(timezone) ?? (isZoneName(timezone) && isInstant(time) ? zoneMinutes(time, timezone) : undefined);
  if (offset !== undefined) return offset;
  throw new Fault(
    'failed',
    `${JSON.stringify(timezone)} is not a valid time zone; write an offset ("+05:00", "-0530", "Z") or a region such as "Europe/Berlin"`,
  );
}

/** As in schedules: abbreviations mean different things in different places. */
const isZoneName = (name: string): boolean => name === 'UTC' || (name.includes('/') && isTimeZone(name));

/** Down to the minute, as an offset is written; zones had seconds before they were agreed upon. */
const zoneMinutes = (time: number, zone: string): number => Math.round(zoneOffsetMs(time, zone) / 60_000);

function format(time: number, picture: string, offset?: string): string {
  const implementation = builtIn('fromMillis').implementation as (...args: unknown[]) => string;
  return implementation(time, picture, offset);
}

const two = (value: number): string => String(value).padStart(2, '0');

const escaped = (literal: string): string => literal.replaceAll('[', '[[').replaceAll(']', ']]');
