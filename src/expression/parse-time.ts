import { readOffset } from '../common/index.js';
import { builtIn } from './built-ins.js';
import { Fault } from './fault.js';
import { type PicturePart, partsOf, refuseLong } from './time-picture.js';

type Marker = Exclude<PicturePart, { literal: string }>;

const months = 'January February March April May June July August September October November December'.split(' ');
const days = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');

/** From the largest to the smallest: what stands before those that are given comes from now, what comes after is the least. */
const units = ['Y', 'M', 'D', 'H', 'm', 's', 'f'] as const;
type Fields = Record<(typeof units)[number], number>;

/**
 * The time that a text says by a picture, in epoch milliseconds; undefined where the text does not fit the picture.
 * JSONata's own makes 2 March of 30 February, adds the minutes of `-05:30` the wrong way, and puts the year 18 into the
 * last century.
 */
export function parseTime(text: string, picture: string, now: number): number | undefined {
  refuseLong('the time that a picture is held against', text);
  const parts = partsOf(picture);
  refuseAmbiguous(text, parts);
  const markers = parts.filter((part): part is Marker => !('literal' in part));
  const match = new RegExp(`^${parts.map((part, index) => patternOf(part, parts[index + 1])).join('')}$`, 'i').exec(
    text,
  );
  if (match === null || markers.length === 0) return undefined;
  const given = new Map(markers.map((marker, index) => [marker.component, valueOf(marker, match[index + 1] ?? '')]));
  return timeOf(given, now, text);
}

function timeOf(given: Map<string, number>, now: number, text: string): number {
  const impossible = (): Fault => new Fault('failed', `${JSON.stringify(text)} is a time that does not exist`);
  const hour = given.get('h');
  if (hour !== undefined) {
    if (hour < 1 || hour > 12) throw impossible();
    given.set('H', (hour % 12) + (given.get('P') === 1 ? 12 : 0));
  }
  const dayOfYear = given.get('d');
  if (dayOfYear !== undefined) {
    given.set('M', 1);
    given.set('D', 1);
  }
  const fields = completed(given, now);
  const date = new Date(0);
  date.setUTCFullYear(fields.Y, fields.M - 1, fields.D);
  const isDate =
    date.getUTCFullYear() === fields.Y && date.getUTCMonth() === fields.M - 1 && date.getUTCDate() === fields.D;
  if (!isDate || fields.H > 23 || fields.m > 59 || fields.s > 59) throw impossible();
  if (dayOfYear !== undefined) {
    date.setUTCDate(dayOfYear);
    if (dayOfYear < 1 || date.getUTCFullYear() !== fields.Y) throw impossible();
  }
  const weekday = given.get('F');
  if (weekday !== undefined && given.has('D') && weekday % 7 !== date.getUTCDay()) throw impossible();
  date.setUTCHours(fields.H, fields.m, fields.s, fields.f);
  return date.getTime() - (given.get('Z') ?? given.get('z') ?? 0) * 60_000;
}

function completed(given: ReadonlyMap<string, number>, now: number): Fields {
  const today = new Date(now);
  const fields: Fields = {
    ...{ Y: today.getUTCFullYear(), M: today.getUTCMonth() + 1, D: today.getUTCDate() },
    ...{ H: today.getUTCHours(), m: today.getUTCMinutes(), s: today.getUTCSeconds(), f: today.getUTCMilliseconds() },
  };
  const present = units.map((unit) => given.has(unit));
  const [first, last] = [present.indexOf(true), present.lastIndexOf(true)];
  if (first < 0) throw new Fault('failed', 'the picture of `$toMillis` names no part of a date or of a time of day');
  if (present.slice(first, last).includes(false)) {
    throw new Fault('failed', 'the picture of `$toMillis` leaves out a part between the largest and the smallest');
  }
  units.forEach((unit, index) => {
    if (index >= first) fields[unit] = given.get(unit) ?? (unit === 'M' || unit === 'D' ? 1 : 0);
  });
  return fields;
}

function patternOf(part: PicturePart, next: PicturePart | undefined): string {
  if ('literal' in part) return part.literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const { component, presentation, isOrdinal } = part;
  if (component === 'Z') return '(Z|[-+][0-9]+(?::[0-9]+)?)';
  if (component === 'z') return '(GMT(?:[-+][0-9]+(?::[0-9]+)?)?)';
  if (!isDecimal(presentation)) return isName(part) || /^[AaIi]$/.test(presentation) ? '([a-z]+)' : '([a-z][a-z, -]*)';
  // Two numbers with nothing between them: the first has as many digits as its picture.
  const isOpen = next === undefined || 'literal' in next || !isDecimal(next.presentation) || component === 'f';
  const width = presentation.replace(/\D/g, '').length;
  return `([0-9]${isOpen ? '+' : `{${width}}`}${isOrdinal ? '(?:th|st|nd|rd)' : ''})`;
}

const isDecimal = (presentation: string): boolean => /^[#0-9,.' ]*[0-9]$/.test(presentation);
const isName = ({ presentation }: Marker): boolean => /^n/i.test(presentation);

function valueOf(marker: Marker, text: string): number {
  const { component, presentation, isOrdinal } = marker;
  switch (component) {
    case 'Z':
    case 'z':
      return offsetOf(text.replace(/^GMT/i, ''));
    case 'f':
      return Number(text.slice(0, 3).padEnd(3, '0'));
    case 'P':
      return nameOf(['am', 'pm'], text, undefined);
    case 'M':
      if (isName(marker)) return nameOf(months, text, marker.maxWidth) + 1;
      break;
    case 'F':
      if (isName(marker)) return nameOf(days, text, marker.maxWidth) + 1;
      break;
    case 'Y':
      if (isDecimal(presentation) && text.length < 3) {
        throw new Fault(
          'failed',
          `the year ${JSON.stringify(text)} does not say its century; write it with four digits`,
        );
      }
      break;
    case 'D':
    case 'd':
    case 'H':
    case 'h':
    case 'm':
    case 's':
      break;
    default:
      throw new Fault('failed', `\`$toMillis\` cannot read \`${marker.text}\`; weeks do not make a date`);
  }
  if (isDecimal(presentation)) return Number(isOrdinal ? text.slice(0, -2) : text);
  const parse = builtIn('parseInteger').implementation as (text: string, picture: string) => number;
  const value = parse(text, presentation);
  if (Number.isFinite(value)) return value;
  throw new Fault('failed', `${JSON.stringify(text)} is not a number by the picture \`${marker.text}\``);
}

function nameOf(names: readonly string[], text: string, width: number | undefined): number {
  const index = names.findIndex((name) => name.slice(0, width).toLowerCase() === text.toLowerCase());
  if (index >= 0) return index;
  throw new Fault(
    'failed',
    `${JSON.stringify(text)} is none of ${names.map((name) => name.slice(0, width)).join(', ')}`,
  );
}

function offsetOf(text: string): number {
  const [, sign = '+', hours = '0', minutes = '00'] = /^([-+])([0-9]{1,2})(?::?([0-9]{2}))?$/.exec(text) ?? [];
  const offset = text === '' ? 0 : readOffset(/^[Zz]$/.test(text) ? 'Z' : `${sign}${hours.padStart(2, '0')}${minutes}`);
  if (offset !== undefined && (/^[Zz]?$/.test(text) || /^[-+][0-9]{1,2}(?::?[0-9]{2})?$/.test(text))) return offset;
  throw new Fault('failed', `${JSON.stringify(text)} is not a valid offset; write "+05:00" or "-0530"`);
}

/** Numbers with digits or nothing between them can share out a row of digits in very many ways, all of which are tried. */
function refuseAmbiguous(text: string, parts: readonly PicturePart[]): void {
  // Numbers in words may hold what parts others.
  const parting = parts.some((part) => !('literal' in part) && !isDecimal(part.presentation))
    ? /[^A-Za-z0-9, -]/
    : /[^A-Za-z0-9]/;
  let chain = 0;
  let longest = 0;
  for (const part of parts) {
    if (!('literal' in part)) longest = Math.max(longest, ++chain);
    else if (parting.test(part.literal)) chain = 0;
  }
  let ways = 1;
  for (let marker = 0; marker < longest - 1; marker++) ways *= Math.max(1, (text.length - marker) / (marker + 1));
  if (ways > 1e7) {
    throw new Fault(
      'limit',
      'the picture of `$toMillis` can be read in too many ways; put something between its parts',
    );
  }
}
