import { describe, expect, it } from 'vitest';
import { nextTime, nextTimes } from '../../src/engine/cadence.js';

const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().slice(0, 16));
const cron = (text: string, zone: string, after: string, count: number): string[] =>
  iso(nextTimes({ cron: text }, zone, 0, Date.parse(after), count));

describe('cron', () => {
  it('follows the wall clock of its zone through a change of the clock', () => {
    expect(cron('0 9 * * MON', 'America/New_York', '2030-03-08T00:00Z', 2)).toEqual([
      '2030-03-11T13:00',
      '2030-03-18T13:00',
    ]);
    expect(cron('0 9 * * MON', 'America/New_York', '2030-03-01T00:00Z', 1)).toEqual(['2030-03-04T14:00']);
  });

  it('in the gap of spring fires at the first instant after it', () => {
    // On 2030-03-31 the clock in Berlin jumps from 02:00 to 03:00.
    expect(cron('30 2 * * *', 'Europe/Berlin', '2030-03-29T12:00Z', 3)).toEqual([
      '2030-03-30T01:30',
      '2030-03-31T01:00',
      '2030-04-01T00:30',
    ]);
  });

  it('where a time exists twice fires once, the first time', () => {
    // On 2030-10-27 the clock in Berlin goes back from 03:00 to 02:00.
    expect(cron('30 2 * * *', 'Europe/Berlin', '2030-10-26T12:00Z', 2)).toEqual([
      '2030-10-27T00:30',
      '2030-10-28T01:30',
    ]);
    expect(cron('*/30 * * * *', 'Europe/Berlin', '2030-10-26T23:45Z', 3)).toEqual([
      '2030-10-27T00:00',
      '2030-10-27T00:30',
      '2030-10-27T02:00',
    ]);
  });

  it('knows 29 February, and both names of Sunday', () => {
    expect(cron('0 0 29 2 *', 'UTC', '2030-01-01T00:00Z', 2)).toEqual(['2032-02-29T00:00', '2036-02-29T00:00']);
    expect(cron('0 0 * * 0', 'UTC', '2030-01-01T00:00Z', 1)).toEqual(cron('0 0 * * 7', 'UTC', '2030-01-01T00:00Z', 1));
  });

  it('has no next time where there is none', () => {
    expect(nextTime({ cron: '0 0 31 2 *' }, 'UTC', 0, Date.parse('2030-01-01T00:00Z'))).toBeNull();
  });
});

describe('every', () => {
  it('counts from its anchor, not from the last time somebody looked', () => {
    const hour = 3_600_000;
    expect(nextTime({ everyMs: hour }, null, 1000, 1000)).toBe(1000 + hour);
    expect(nextTime({ everyMs: hour }, null, 1000, 1000 + 2.5 * hour)).toBe(1000 + 3 * hour);
    expect(nextTime({ everyMs: hour }, null, 1000, 1000 + 3 * hour)).toBe(1000 + 4 * hour);
  });
});
