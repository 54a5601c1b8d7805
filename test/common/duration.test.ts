import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationProblem, durationText, isDuration, parseDuration } from '../../src/common/index.js';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h30m', 9_000_000],
    ['14d', 1_209_600_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['0s', 0],
    ['PT2H30M', 9_000_000],
    ['PT0.25S', 250],
    ['PT1.5S', 1_500],
    ['P1DT12H', 129_600_000],
    ['P2W', 1_209_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ['5', /no unit.*5s/],
    ['2.5', /no unit/],
    ['', /no duration/],
    ['m', /no duration/],
    ['P', /no duration/],
    ['PT', /no duration/],
    ['P1DT', /no duration/],
    ['30m2h', /no duration/],
    ['5m5m', /no duration/],
    ['15 minutes', /no duration/],
    ['1M', /no duration/],
    ['-5s', /negative/],
    ['1.5h', /fraction/],
    ['P1M', /months or years/],
    ['P1Y2D', /months or years/],
    ['1y', /months or years/],
    ['3 s', /no duration/],
    ['never', /no duration/],
    ['99999999d', /longer than 36500d/],
    ['5m\n', /no duration/],
  ])('%j is refused', (text, reason) => {
    expect(isDuration(text)).toBe(false);
    expect(durationProblem(text)).toMatch(reason);
    expect(() => parseDuration(text)).toThrow(reason);
  });

  test('the short form and ISO 8601 say the same', () => {
    const part = (most: number) => fc.integer({ min: 0, max: most });
    fc.assert(
      fc.property(part(1000), part(23), part(59), part(59), part(999), (d, h, m, s, ms) => {
        const iso = `P${d}DT${h}H${m}M${s}.${String(ms).padStart(3, '0')}S`;
        expect(parseDuration(`${d}d${h}h${m}m${s}s${ms}ms`)).toBe(parseDuration(iso));
      }),
      { seed: 60, numRuns: 200 },
    );
  });
});

test.each([
  [340, '340ms'],
  [12_500, '12.5s'],
  [250_000, '4m10s'],
  [12_000_000, '3h20m'],
  [187_200_000, '2d4h'],
  // The clock was set back while something went on.
  [-3_599_886, '-59m59s'],
])('%d ms are told as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
