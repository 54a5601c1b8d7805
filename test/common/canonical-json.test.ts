import fc from 'fast-check';
import { canonicalize } from 'json-canonicalize';
import { describe, expect, test } from 'vitest';
import { type JsonValue, canonicalJson } from '../../src/common/index.js';

describe('canonical JSON (RFC 8785)', () => {
  test('the sample of section 3.2.2', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(sample) as JsonValue)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test('names are sorted by UTF-16 code units (section 3.2.3)', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, name.length])));
    const order = [...text.matchAll(/"([^"]+)":/g)].map(([, name]) => JSON.parse(`"${name}"`) as string);
    expect(order).toEqual(['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('the number %s of appendix B is %s', (bits, expected) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(expected);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  test.each<[string, unknown, RegExp]>([
    ['NaN', { a: [1, NaN] }, /NaN.*\/a\/1/],
    ['an infinity', [Infinity], /Infinity/],
    ['undefined in a map', { a: undefined }, /undefined.*\/a/],
    ['a hole in a list', [1, , 2], /undefined.*\/1/],
    ['a function', { f: () => 1 }, /function/],
    ['a symbol', Symbol('s'), /symbol/],
    ['a big integer', 1n, /bigint/],
    ['half of a surrogate pair', 'a\ud83d', /surrogate/],
    ['half of a surrogate pair in a name', { 'a\ude00': 1 }, /surrogate/],
    ['a date', new Date(0), /Date/],
    ['a map object', new Map([['a', 1]]), /Map/],
    ['a cycle', cyclic, /contains itself/],
  ])('%s is refused, naming the place', (_, value, message) => {
    expect(() => canonicalJson(value as JsonValue)).toThrow(message);
  });

  test('the same object twice side by side is no cycle', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  const jsonValues = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
  const wellFormed = jsonValues.filter((value) => !/\\ud[89a-f]/i.test(JSON.stringify(value)));

  test('agrees with json-canonicalize on whatever JSON can hold', () => {
    fc.assert(
      fc.property(wellFormed, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { seed: 8785, numRuns: 500 },
    );
  });

  test('reads back as the same value', () => {
    fc.assert(
      fc.property(wellFormed, (value) => {
        expect(canonicalJson(JSON.parse(canonicalJson(value)) as JsonValue)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
      { seed: 8785, numRuns: 200 },
    );
  });
});
