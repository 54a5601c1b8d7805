import { expect, test } from 'vitest';
import { nextTime } from '../../src/engine/cadence.js';

/*
 * Cron against an oracle that knows nothing of offsets: it looks at what the zone's clock shows, minute by minute, and
 * fires when a time of the pattern has come, or has been jumped over, for the first time. Around each change of the
 * clock, in 20 zones over 20 years; `CRON_ORACLE=full` takes each change, otherwise every eighth.
 */

const every = process.env['CRON_ORACLE'] === 'full' ? 1 : 8;

const zones = [
  ...[
    'UTC',
    'Europe/Berlin',
    'Europe/London',
    'Europe/Dublin',
    'America/New_York',
    'America/Los_Angeles',
    'America/St_Johns',
  ],
  ...[
    'America/Santiago',
    'America/Sao_Paulo',
    'America/Havana',
    'Asia/Tehran',
    'Asia/Beirut',
    'Asia/Kolkata',
    'Asia/Gaza',
  ],
  ...[
    'Africa/Casablanca',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'Australia/Sydney',
    'Pacific/Apia',
    'Pacific/Chatham',
  ],
];
const patterns = [
  '30 2,14 * * *',
  '*/15 * * * *',
  '0 0 * * *',
  '15,45 1-3 * * *',
  '59 23 * * *',
  '5 0,2 * * SUN',
  '0 3 28 3 *',
];
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const [first, last] = [Date.UTC(2008, 0, 1), Date.UTC(2028, 0, 1)];

/** What a clock of the zone shows, as UTC's would show it. */
function clockOf(zone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return (time) => Date.parse(`${format.format(time).replace(' ', 'T')}Z`);
}

function changesOf(clock: (time: number) => number): number[] {
  const changes: number[] = [];
  const offset = (time: number): number => clock(time) - time;
  for (let time = first; time < last; time += 7 * day) {
    if (offset(time) === offset(time + 7 * day)) continue;
    for (let at = time; at < time + 7 * day; at += hour) if (offset(at) !== offset(at + hour)) changes.push(at + hour);
  }
  return changes;
}

/** Five fields, each of `*`, lists, ranges, steps; where both days are given either will do. */
function isDue(pattern: string, shown: number): boolean {
  const date = new Date(shown);
  const values = [
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth() + 1,
    date.getUTCDay(),
  ];
  return pattern.split(' ').every((field, index) =>
    field.split(',').some((part) => {
      const value = values[index] ?? 0;
      if (part === 'SUN') return value === 0;
      const [range = '', step] = part.split('/');
      if (range === '*') return step === undefined || value % Number(step) === 0;
      const [from, to = from] = range.split('-').map(Number);
      return value >= Number(from) && value <= Number(to);
    }),
  );
}

test.each(zones)('%s', { timeout: 300_000 }, (zone) => {
  const clock = clockOf(zone);
  const changes = [...changesOf(clock), Date.UTC(2020, 1, 29)].filter((_, index) => index % every === 0);
  for (const change of changes) {
    const [from, to] = [change - 26 * hour, change + 26 * hour];
    // The latest time that the clock has shown so far; a minute that it shows again is none that comes.
    let shown = clock(from);
    const fired = new Map<string, number[]>(patterns.map((pattern) => [pattern, []]));
    for (let time = from + minute; time <= to; time += minute) {
      const now = clock(time);
      for (; shown < now; shown += minute) {
        for (const pattern of patterns) {
          const times = fired.get(pattern) ?? [];
          if (isDue(pattern, shown + minute) && times.at(-1) !== time) times.push(time);
        }
      }
    }
    for (const pattern of patterns) {
      const times: number[] = [];
      for (let at = nextTime({ cron: pattern }, zone, 0, from); at !== null && at <= to;) {
        times.push(at);
        at = nextTime({ cron: pattern }, zone, 0, at);
      }
      const iso = (all: readonly number[] = []): string[] => all.map((time) => new Date(time).toISOString());
      expect({ pattern, times: iso(times) }).toEqual({ pattern, times: iso(fired.get(pattern)) });
    }
  }
});
