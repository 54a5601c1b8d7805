import { describe, expect, it } from 'vitest';
import { type DescribedError, errorText } from '../../src/common/index.js';

const chain = (...messages: string[]): DescribedError | undefined =>
  messages.reduceRight<DescribedError | undefined>(
    (cause, message) => ({ name: 'Error', message, ...(cause !== undefined && { cause }) }),
    undefined,
  );

describe('an error with what it came from', () => {
  it.each<[string, DescribedError, string]>([
    ['alone', { name: 'Refused', message: 'not today' }, 'Refused: not today'],
    [
      'a service that is down',
      {
        name: 'TypeError',
        message: 'fetch failed',
        cause: { name: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:8099' },
      },
      'TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:8099',
    ],
    [
      'one that is known by its code alone',
      { name: 'TypeError', message: 'fetch failed', cause: { name: 'ECONNREFUSED', message: '' } },
      'TypeError: fetch failed: ECONNREFUSED',
    ],
    [
      'a cause with a name of its own',
      { name: 'Error', message: 'no order', cause: { name: 'StockEmpty', message: 'nothing left' } },
      'Error: no order: StockEmpty: nothing left',
    ],
    [
      'a message that repeats its cause',
      { name: 'Error', message: 'could not save: disk full', cause: { name: 'Error', message: 'disk full' } },
      'Error: could not save: disk full',
    ],
    ['an empty cause', { name: 'Error', message: 'x', cause: { name: 'Error', message: '' } }, 'Error: x'],
    ['an empty message', { name: 'Error', message: '', cause: { name: 'Error', message: 'x' } }, 'Error: x'],
    ['lines', { name: 'Error', message: 'a\n  b', cause: { name: 'Error', message: 'c\u001b' } }, 'Error: a b: c␛'],
    [
      'a long chain: the nearest causes and the first of all',
      {
        name: 'Error',
        message: 'zero',
        ...(chain('one', 'two', 'three', 'four') && { cause: chain('one', 'two', 'three', 'four') as DescribedError }),
      },
      'Error: zero: one: two: four',
    ],
    [
      'a long cause',
      { name: 'Error', message: 'x', cause: { name: 'Error', message: 'y'.repeat(900) } },
      `Error: x: ${'y'.repeat(199)}…`,
    ],
  ])('%s', (_what, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});
