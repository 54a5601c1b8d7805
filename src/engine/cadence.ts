import { Cron } from 'croner';
import { parseDuration } from '../common/index.js';
import type { ScheduleEntry } from '../definition/index.js';

/** When a schedule fires. */
export type Cadence = { readonly cron: string } | { readonly everyMs: number };

export function cadenceOf(entry: ScheduleEntry): Cadence {
  return 'cron' in entry ? { cron: entry.cron } : { everyMs: parseDuration(entry.every) };
}

/**
 * The first nominal time after `after`, in epoch milliseconds; null where there is none.
 *
 * Intervals count from `anchorAt`. A cron time that a clock change skips is the first instant after the gap; one that
 * exists twice counts once, the first time.
 */
export function nextTime(cadence: Cadence, timezone: string | null, anchorAt: number, after: number): number | null {
  if ('everyMs' in cadence) {
    const passed = Math.max(0, Math.floor((after - anchorAt) / cadence.everyMs));
    return anchorAt + (passed + 1) * cadence.everyMs;
  }
  const zone = timezone ?? 'UTC';
  // Two fields of days mean either, as in every cron since 1987.
  const cron = new Cron(cadence.cron, { timezone: zone, paused: true });
  let time = cron.nextRun(new Date(after));
  while (time !== null && isRepeated(time.getTime(), zone)) time = cron.nextRun(time);
  return time === null ? null : time.getTime();
}

/** The next so many nominal times. */
export function nextTimes(
  cadence: Cadence,
  timezone: string | null,
  anchorAt: number,
  after: number,
  count: number,
): number[] {
  const times: number[] = [];
  for (let at: number | null = after; times.length < count;) {
    at = nextTime(cadence, timezone, anchorAt, at);
    if (at === null) break;
    times.push(at);
  }
  return times;
}

const dayMs = 86_400_000;

/** Whether the clock showed the same time before: an hour earlier, say, when summer time ended. */
function isRepeated(time: number, zone: string): boolean {
  const turnedBackMs = offsetMs(time - dayMs, zone) - offsetMs(time, zone);
  return turnedBackMs > 0 && offsetMs(time - turnedBackMs, zone) === offsetMs(time, zone) + turnedBackMs;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone's clock is ahead of UTC. */
function offsetMs(time: number, zone: string): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const fields = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
}
