import { describe, expect, it, test } from 'vitest';
import type { JsonValue } from '../../src/common/index.js';
import { readTimestamp, zoneOffsetMs } from '../../src/common/index.js';
import { compileSchema } from '../../src/definition/index.js';
import { pointInTime } from '../../src/interpreter/point-in-time.js';
import { givenInput as valueOf } from './surroundings.js';

const at = Date.UTC(2021, 0, 1);

describe('the zone of `$fromMillis`', () => {
  it.each([
    ['+05:00', '2021-01-01 05:00 +05:00'],
    ['+0500', '2021-01-01 05:00 +05:00'],
    ['+05', '2021-01-01 05:00 +05:00'],
    ['-0530', '2020-12-31 18:30 -05:30'],
    ['-05:30', '2020-12-31 18:30 -05:30'],
    ['-0030', '2020-12-31 23:30 -00:30'],
    ['+0545', '2021-01-01 05:45 +05:45'],
    ['Z', '2021-01-01 00:00 +00:00'],
    ['UTC', '2021-01-01 00:00 +00:00'],
    ['Europe/Berlin', '2021-01-01 01:00 +01:00'],
    ['America/St_Johns', '2020-12-31 20:30 -03:30'],
    ['Asia/Kolkata', '2021-01-01 05:30 +05:30'],
  ])('%s', async (zone, text) => {
    const picture = '[Y0001]-[M01]-[D01] [H01]:[m01] [Z]';
    expect(await valueOf('$fromMillis($input.at, $input.p, $input.zone)', { at, p: picture, zone })).toBe(text);
  });

  it.each(['Berlin', 'PST', '+5', '5', '+24:00', '+05:60', '', 'EST5EDT', 'Europe/Nowhere'])(
    '%j is an error',
    async (zone) => {
      await expect(valueOf('$fromMillis($input.at, "[H]", $input.zone)', { at, zone })).rejects.toThrow('time zone');
    },
  );

  it('is written as the picture says', async () => {
    const write = (picture: string): unknown => valueOf('$fromMillis(0, $input.p, "-0530")', { p: picture });
    expect(await write('[Z]')).toBe('-05:30');
    expect(await write('[Z0101]')).toBe('-0530');
    expect(await write('[Z0]')).toBe('-5:30');
    expect(await write('[z]')).toBe('GMT-05:30');
    expect(await write('[[[Z]]]')).toBe('[-05:30]');
    expect(await valueOf('$fromMillis(0, "[Z01:01t]", "Europe/London")')).toBe('+01:00');
    expect(await valueOf('$fromMillis(0, "[Z01:01t]", "Z")')).toBe('Z');
    expect(await valueOf('$fromMillis(0)')).toBe('1970-01-01T00:00:00.000Z');
  });

  it('follows the clock of the region', async () => {
    for (let month = 0; month < 12; month += 1) {
      const time = Date.UTC(2030, month, 15, 12);
      const shown = await valueOf('$fromMillis($input.t, "[H01]:[m01]", "America/New_York")', { t: time });
      expect(shown).toBe(new Date(time + zoneOffsetMs(time, 'America/New_York')).toISOString().slice(11, 16));
    }
  });
});

describe('fractions of a second', () => {
  it.each([
    ['[f]', '05', 50],
    ['[f]', '269', 269],
    ['[f01]', '26', 269],
    ['[f001]', '007', 7],
    ['[f000001]', '269000', 269],
  ])('%s gives %s', async (picture, text, ms) => {
    expect(await valueOf('$fromMillis($input.t, $input.p)', { t: at + ms, p: picture })).toBe(text);
  });
});

const missing = [
  '2023-02-30',
  '2023-02-29',
  '2100-02-29',
  '2023-04-31',
  '2023-13-01',
  '2023-00-10',
  '2023-01-00',
  '2023-01-01T24:00:00Z',
  '2023-01-01T10:60:00Z',
  '2023-02-30T10:00:00+01:00',
  '2023-01-01T10:00:00+24:00',
];

describe('a time that does not exist', () => {
  it.each(missing)('%s is an error in every function', async (time) => {
    await expect(valueOf('$toMillis($input.time)', { time })).rejects.toThrow('not a valid time');
    await expect(valueOf('$addDuration($input.time, "1d")', { time })).rejects.toThrow('not a valid time');
    if (time.includes('T')) {
      expect(() => pointInTime(time, 's')).toThrow('no point in time');
      expect(compileSchema({ format: 'date-time' })(time)).not.toEqual([]);
    }
  });

  it.each([
    ['2023-02-30', '[Y0001]-[M01]-[D01]'],
    ['30.2.2023', '[D].[M].[Y]'],
    ['20230230', '[Y0001][M01][D01]'],
    ['31 April 2023', '[D] [MNn] [Y]'],
    ['2023-01-01 24:00', '[Y]-[M]-[D] [H]:[m]'],
    ['2023-01-01 13:00 pm', '[Y]-[M]-[D] [h]:[m] [P]'],
    ['2023-366', '[Y]-[d]'],
    ['Monday, 1 January 2030', '[FNn], [D] [MNn] [Y]'],
  ])('%s by %s too', async (time, picture) => {
    await expect(valueOf('$toMillis($input.time, $input.picture)', { time, picture })).rejects.toThrow(
      'does not exist',
    );
  });
});

describe('`$toMillis` by a picture', () => {
  it.each<[time: string, picture: string, iso: string]>([
    ['2030-01-31', '[Y0001]-[M01]-[D01]', '2030-01-31T00:00:00.000Z'],
    ['20300131', '[Y0001][M01][D01]', '2030-01-31T00:00:00.000Z'],
    ['31.1.2030 9:05', '[D].[M].[Y] [H]:[m01]', '2030-01-31T09:05:00.000Z'],
    ['1st JANUARY 2030', '[D1o] [MNn] [Y0001]', '2030-01-01T00:00:00.000Z'],
    ['Thu, 31 Jan 2030', '[FNn,3-3], [D] [MNn,3-3] [Y]', '2030-01-31T00:00:00.000Z'],
    ['12:30 am 2030-01-31', '[h]:[m] [P] [Y]-[M]-[D]', '2030-01-31T00:30:00.000Z'],
    ['12:30 PM 2030-01-31', '[h]:[m] [P] [Y]-[M]-[D]', '2030-01-31T12:30:00.000Z'],
    ['2030-01-31 10:00 -05:30', '[Y]-[M]-[D] [H]:[m] [Z]', '2030-01-31T15:30:00.000Z'],
    ['2030-01-31 10:00 -0530', '[Y]-[M]-[D] [H]:[m] [Z0101]', '2030-01-31T15:30:00.000Z'],
    ['2030-01-31 10:00 +05', '[Y]-[M]-[D] [H]:[m] [Z]', '2030-01-31T05:00:00.000Z'],
    ['2030-01-31 10:00 GMT+01:00', '[Y]-[M]-[D] [H]:[m] [z]', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T10:00:00.5Z', '[Y]-[M]-[D]T[H]:[m]:[s].[f][Z01:01t]', '2030-01-31T10:00:00.500Z'],
    ['2028-366', '[Y]-[d]', '2028-12-31T00:00:00.000Z'],
    ['twenty-seven April 2018', '[Dw] [MNn] [Y0001]', '2018-04-27T00:00:00.000Z'],
    ['MMXXX', '[YI]', '2030-01-01T00:00:00.000Z'],
  ])('%s by %s', async (time, picture, iso) => {
    const read = '$fromMillis($toMillis($input.time, $input.picture))';
    expect(await valueOf(read, { time, picture })).toBe(iso);
  });

  it('has no value where the text is another', async () => {
    expect(await valueOf('$toMillis("tomorrow", "[Y]-[M]-[D]") ?? "none"')).toBe('none');
  });

  it.each(['[Y]-[D]', '[Y]-[s]', '[Y]-[W]', '[Q]', '[Y'])('%s is an error', async (picture) => {
    await expect(valueOf('$toMillis("2030-01", $input.picture)', { picture })).rejects.toThrow();
  });

  it('gives back what `$fromMillis` has written', async () => {
    const pictures = [
      '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z]',
      '[D1o] [MNn] [Y], [h]:[m01]:[s01] [PN] [z]',
      '[Y]-[d001] [H]:[m]:[s] [Z0101]',
    ];
    for (const p of pictures) {
      for (const zone of ['Z', '+05:45', '-03:30', 'America/New_York']) {
        for (let t = Date.UTC(1999, 11, 31, 23, 59, 59); t < Date.UTC(2040, 0, 1); t += 211 * 86_400_000 + 3_723_000) {
          expect(
            await valueOf('$toMillis($fromMillis($input.t, $input.p, $input.zone), $input.p)', { t, p, zone }),
          ).toBe(t);
        }
      }
    }
  });
});

test('what `format: date-time` takes, `until` and `$toMillis` take', () => {
  const parts: readonly string[][] = [
    ['2030-01-31', '2030-02-30', '2028-02-29', '0000-01-01', '2030-1-1'],
    ['T', 't', ' '],
    ['10:00:00', '23:59:60', '12:30:60', '10:00:00.5', '24:00:00', '00:00:00.123456789', '10:61:00'],
    ['Z', 'z', '+01:00', '-0530', '+23', '+24:00', '-00:00', '+01:60'],
  ];
  const isDateTime = (text: JsonValue): boolean => compile(text).length === 0;
  const compile = compileSchema({ type: 'string', format: 'date-time' });
  const texts = parts.reduce<string[]>((all, more) => all.flatMap((text) => more.map((part) => text + part)), ['']);
  for (const text of texts) {
    expect([text, readTimestamp(text) !== undefined]).toEqual([text, isDateTime(text)]);
    if (isDateTime(text)) expect(pointInTime(text, 's')).toBe(readTimestamp(text));
  }
});

test.each(['2030-01-31', '2030', 8.64e15 + 1, -9e15, Infinity, '12:00'])('`until` does not take %s', (value) => {
  expect(() => pointInTime(value, 's')).toThrow('no point in time');
});

test('a year that four digits cannot say is an error', async () => {
  await expect(valueOf('$fromMillis(253402300800000)')).rejects.toThrow('years 0 to 9999');
  await expect(valueOf('$addDuration("9999-12-31", "1d")')).rejects.toThrow('years 0 to 9999');
  await expect(valueOf('$toMillis("18-01-31", "[Y]-[M]-[D]")')).rejects.toThrow('century');
});
