import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../src/common/index.js';
import { compileSchema, problemsText, validateInput } from '../../src/definition/index.js';
import { toJsonSchema } from '../../src/handlers/handler-schema.js';
import { definitionOf } from './flows.js';

const fits = (schema: JsonObject, value: JsonValue): boolean => compileSchema(schema)(value).length === 0;

describe('several patterns in one schema', () => {
  test('are each held against their own field, in the input of a workflow', async () => {
    const flow = definitionOf(
      "workflow: w\ninput: { a: { type: string, pattern: '^a+$' }, b: { type: string, pattern: '^b+$' } }\nsteps: []\n",
    );
    expect(await validateInput(flow, { a: 'aa', b: 'bb' })).toMatchObject({ ok: true });
    expect(await validateInput(flow, { a: 'aa', b: 'aa' })).toMatchObject({
      ok: false,
      problems: [{ path: '/b', message: 'must match the pattern "^b+$", is "aa"' }],
    });
    expect(await validateInput(flow, { a: 'bb', b: 'bb' })).toMatchObject({ ok: false, problems: [{ path: '/a' }] });
  });

  const [a, b]: JsonObject[] = [{ pattern: '^a' }, { pattern: '^b' }];
  test.each<[string, JsonObject, JsonValue, JsonValue]>([
    [
      'patternProperties',
      { patternProperties: { '^a': { type: 'number' }, '^b': { type: 'string' } } },
      { a: 1, b: 'x' },
      { a: 1, b: 2 },
    ],
    [
      'beside additionalProperties',
      { patternProperties: { '^a': {}, '^b': {} }, additionalProperties: false },
      { a: 1, b: 1 },
      { c: 1 },
    ],
    [
      'propertyNames and a field',
      { propertyNames: a as JsonObject, properties: { ab: b as JsonObject } },
      { ab: 'b' },
      { ab: 'a' },
    ],
    ['prefixItems', { prefixItems: [a as JsonObject, b as JsonObject] }, ['a', 'b'], ['a', 'a']],
    ['anyOf', { anyOf: [a as JsonObject, b as JsonObject] }, 'b', 'c'],
    ['allOf', { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, 'ab', 'aa'],
    [
      '$ref',
      { $defs: { b: b as JsonObject }, properties: { a: a as JsonObject, b: { $ref: '#/$defs/b' } } },
      { a: 'a', b: 'b' },
      { a: 'a', b: 'a' },
    ],
    ['if, then', { if: a as JsonObject, then: { pattern: 'x$' }, else: b as JsonObject }, 'ax', 'ab'],
    [
      'inside one another',
      { properties: { a: { items: a as JsonObject }, o: { properties: { b: b as JsonObject } } } },
      { a: ['a'], o: { b: 'b' } },
      { a: ['a'], o: { b: 'a' } },
    ],
  ])('in %s', (_, schema, right, wrong) => {
    expect(fits(schema, right)).toBe(true);
    expect(fits(schema, wrong)).toBe(false);
  });

  test('come from handlers too: an address for mail beside a date', () => {
    const schema = toJsonSchema(z.object({ mail: z.email(), on: z.iso.date(), id: z.uuid() }), 'output') ?? {};
    const right = { mail: 'eva@example.test', on: '2030-01-31', id: '6fa459ea-ee8a-4ca4-894e-db77e160355e' };
    expect(compileSchema(schema)(right)).toEqual([]);
    for (const [field, value] of Object.entries({ mail: right.on, on: right.mail, id: right.on })) {
      expect(problemsText(compileSchema(schema)({ ...right, [field]: value }))).toMatch(new RegExp(`^${field} `));
    }
  });
});

describe('a pattern', () => {
  test.each<[pattern: string, text: string, isMatch: boolean]>([
    ['^\\s$', '\u00a0', true],
    ['^[\\s]$', '\u2003', true],
    ['^\\S$', '\u00a0', false],
    ['^[^\\s]$', '\ufeff', false],
    ['^[\\S]$', 'é', true],
    ['^.$', '\u2028', false],
    ['^.$', '\r', false],
    ['^.$', '😀', true],
    ['^[[:a]+$', '[:a', true],
    ['^[[:a]$', 'b', false],
    ['^[^]$', '\n', true],
    ['^[\\]a]+$', ']a', true],
    ['^[\\b]$', '\b', true],
    ['^\\0$', '\0', true],
  ])('%s reads %j as JavaScript does', (pattern, text, isMatch) => {
    expect(new RegExp(pattern, 'u').test(text)).toBe(isMatch);
    expect(fits({ pattern }, text)).toBe(isMatch);
  });

  test('is not held against a text that is too long for it', () => {
    const problems = compileSchema({ pattern: '\\p{L}{1000}[^x]' })('x'.repeat(900_000));
    expect(problemsText(problems)).toBe(
      'is too long (900000 characters) to be held against the pattern "\\\\p{L}{1000}[^x]"',
    );
    expect(fits({ pattern: '^x+$' }, 'x'.repeat(900_000))).toBe(true);
  });
});

describe('multipleOf', () => {
  test.each<[divisor: number, right: number[], wrong: number[]]>([
    [
      0.01,
      [19.99, 4.35, 8.2, 143.48, 0, -0.07, 1e21, 0.29, 1.1, 9007199254740991, 1e-2],
      [19.995, 0.001, -0.015, 1e-7],
    ],
    [0.1, [0.3, 0.7, 1.1, 2.3], [0.35, 0.05]],
    [1e-7, [0.0000001, 0.0000003, 1.2345678], [1e-8, 0.00000015]],
    [0.25, [0.5, -1.75], [0.3]],
    [3, [9, -3, 0], [1, 4.5]],
    [1e300, [1e300, 3e300, 0], [1, 1e299]],
  ])('%d', (multipleOf, right, wrong) => {
    for (const value of right) expect([value, fits({ multipleOf }, value)]).toEqual([value, true]);
    for (const value of wrong) expect([value, fits({ multipleOf }, value)]).toEqual([value, false]);
  });

  test('every amount of cents is a multiple of a cent', () => {
    const validate = compileSchema({ multipleOf: 0.01 });
    for (let cents = 0; cents < 100_000; cents += 7) {
      expect(validate(cents / 100)).toEqual([]);
      if (cents % 10 !== 0) expect(validate(Number(`${cents}e-3`))).not.toEqual([]);
    }
  });

  test('in a schema of a handler', () => {
    const schema = toJsonSchema(z.object({ amount: z.number().multipleOf(0.01) }), 'input') ?? {};
    expect(fits(schema, { amount: 19.99 })).toBe(true);
    expect(problemsText(compileSchema(schema)({ amount: 19.995 }))).toBe('amount must be a multiple of 0.01');
  });
});
