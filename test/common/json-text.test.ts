import { describe, expect, it } from 'vitest';
import { RunsheetError, toJsonText } from '../../src/common/index.js';

function refusalOf(value: unknown): string {
  try {
    toJsonText(value);
  } catch (error) {
    if (error instanceof RunsheetError && error.code === 'RS_NOT_JSON') return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

const circular: { name: string; self: unknown[] } = { name: 'a', self: [] };
circular.self.push({ again: circular });

describe('what JSON would lose is refused, with its place inside the value', () => {
  it.each<[string, unknown, string]>([
    ['nothing at all', undefined, 'undefined (at $)'],
    ['a number that is none', { items: [{ price: 1 }, { price: Number.NaN }] }, 'NaN (at $.items[1].price)'],
    ['a function', { 'two words': () => 1 }, 'a function (at $["two words"])'],
    ['a bigint', [[1n]], 'a bigint (at $[0][0])'],
    ['a hole in a list', { list: Array(1) }, 'undefined (at $.list[0])'],
    ['a map', { a: { b: new Map() } }, 'a Map (at $.a.b)'],
    ['an error of a class of its own', [new RangeError('x')], 'a RangeError (at $[0])'],
    ['what toJSON gives', { a: { toJSON: () => ({ b: Symbol('s') }) } }, 'a symbol (at $.a.b)'],
    ['a cycle', circular, 'a cycle (at $.self[0].again)'],
  ])('%s', (_, value, message) => {
    expect(refusalOf(value)).toBe(`JSON cannot hold ${message}`);
  });

  it('the same object twice is no cycle, an absent member none at all', () => {
    const shared = { n: 1 };
    const value = { a: shared, b: [shared, shared], c: undefined, at: new Date(0) };
    expect(toJsonText(value).value).toEqual({ a: shared, b: [shared, shared], at: '1970-01-01T00:00:00.000Z' });
  });
});
