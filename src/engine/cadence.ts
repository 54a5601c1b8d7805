import { Cron } from 'croner';
import { parseDuration, zoneOffsetMs } from '../common/index.js';
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
  // As if the zone's clock never changed: of its changes `firstShowing` alone knows. Two fields of days mean either, as in
  // every cron since 1987.
  const cron = new Cron(cadence.cron, { timezone: 'UTC', paused: true });
  // What the clock shows later it shows for the first time no earlier; so nothing up to now has to be looked at, and the
  // first that comes after now is the next. While an hour repeats itself, some do not.
  let shown = cron.nextRun(new Date(after + zoneOffsetMs(after, zone)));
  while (shown !== null) {
    const time = firstShowing(shown.getTime(), zone);
    if (time > after) return time;
    shown = cron.nextRun(shown);
  }
  return null;
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

/**
 * The first instant at which the zone's clock shows a time, or one after it: where the clock jumps over it, the end of the
 * gap; where it shows it twice, the first time. `shown` is what UTC's clock shows then. Of two changes within a day
 * the later one is not seen; there are none in a zone that has people in it.
 */
function firstShowing(shown: number, zone: string): number {
  const before = zoneOffsetMs(shown - dayMs, zone);
  const time = shown - before;
  if (zoneOffsetMs(time, zone) === before) return time;
  let [unchanged, changed] = [shown - dayMs, time];
  while (changed - unchanged > 1) {
    const middle = Math.floor((unchanged + changed) / 2);
    if (zoneOffsetMs(middle, zone) === before) unchanged = middle;
    else changed = middle;
  }
  return Math.max(changed, shown - zoneOffsetMs(changed, zone));
}
