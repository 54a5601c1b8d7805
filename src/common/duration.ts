import { RunsheetError } from './errors.js';

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** A hundred years: beyond it a due time may no longer be a date, and nobody means it. */
const longestMs = 36_500 * unitMs.d;

const short = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const iso = /^P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?$/;

/**
 * Milliseconds of a duration: `500ms`, `30s`, `15m`, `2h30m`, `14d`, or ISO 8601 without months and years
 * (`PT2H30M`, `P1W`). Throws `RS_OPTIONS_INVALID` with a message that says what is wrong.
 */
export function parseDuration(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined)
    throw new RunsheetError('RS_OPTIONS_INVALID', durationProblem(text) ?? `"${text}" is no duration`);
  return ms;
}

/** The duration of so many milliseconds, exactly: what `parseDuration` reads. */
export function writeDuration(ms: number): string {
  let rest = ms;
  const parts = Object.entries(unitMs).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || '0s';
}

export function isDuration(text: string): boolean {
  return durationMs(text) !== undefined;
}

/** Why a text is no duration, for messages; undefined if it is one. */
export function durationProblem(text: string): string | undefined {
  if (durationMs(text) !== undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return `"${text}" has no unit: which is meant, ${text}s, ${text}m or ${text}h?`;
  if (/^P(?=.*\d)[^T]*[YM]|^\d+(mo|months?|y|years?)$/i.test(text)) {
    return `"${text}" counts months or years, whose length is not fixed: write days`;
  }
  if (short.test(text) || iso.test(text)) return `"${text}" is longer than 36500d`;
  if (/^-/.test(text)) return `"${text}" is negative`;
  if (/^\d+\.\d+[a-z]+$/.test(text)) return `"${text}" has a fraction: write whole numbers, such as 1h30m`;
  return `"${text}" is no duration`;
}

function durationMs(text: string): number | undefined {
  const ms = shortMs(text) ?? isoMs(text);
  return ms !== undefined && ms <= longestMs ? ms : undefined;
}

function shortMs(text: string): number | undefined {
  const match = short.exec(text);
  if (match === null) return undefined;
  const [, days, hours, minutes, seconds, milliseconds] = match;
  return total(0, days, hours, minutes, seconds) + Number(milliseconds ?? 0);
}

function isoMs(text: string): number | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const [, weeks, days, hours, minutes, seconds, fraction] = match;
  return total(Number(weeks ?? 0), days, hours, minutes, seconds) + Number((fraction ?? '').padEnd(3, '0'));
}

function total(weeks: number, days = '0', hours = '0', minutes = '0', seconds = '0'): number {
  return (
    (weeks * 7 + Number(days)) * unitMs.d +
    Number(hours) * unitMs.h +
    Number(minutes) * unitMs.m +
    Number(seconds) * unitMs.s
  );
}

/** `340ms`, `12.5s`, `4m10s`, `3h20m`, `2d4h`: two units at most; `-1h` where a clock was set back meanwhile. */
export function durationText(ms: number): string {
  if (ms < 0) return `-${durationText(-ms)}`;
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
