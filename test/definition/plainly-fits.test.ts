import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/common/index.js';
import { compileSchema } from '../../src/definition/index.js';
import { fitsPlainly } from '../../src/definition/plainly-fits.js';
import { isPlainlySound } from '../../src/definition/plainly-sound.js';

const texts = [
  '',
  'a',
  'ab',
  '😀',
  '2030-02-28',
  '2030-02-30',
  '2030-01-01T10:00:00Z',
  'a@b.example',
  'a@b',
  'a..b@c.de',
];
const scalar = fc.constantFrom<JsonValue>(null, true, false, 0, 1, -1, 1.5, 1e21, ...texts);
const name = fc.constantFrom('a', 'b', 'toString');

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }) as fc.Arbitrary<JsonValue>,
  ),
}));

const type = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
const limit = fc.constantFrom(0, 1, 2);
const keywords: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 4 })) as fc.Arbitrary<JsonValue>,
  enum: fc.array(value, { minLength: 1, maxLength: 4 }),
  const: value,
  minimum: limit,
  exclusiveMaximum: limit,
  minLength: limit,
  maxLength: limit,
  minItems: limit,
  maxItems: limit,
  format: fc.constantFrom('date', 'date-time', 'email', 'uuid', 'uri', 'int32'),
  required: fc.uniqueArray(name, { maxLength: 2 }) as fc.Arbitrary<JsonValue>,
  uniqueItems: fc.boolean(),
  pattern: fc.constant('^a'),
  title: fc.constant('Title'),
};

const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.boolean() as fc.Arbitrary<JsonValue>,
    fc
      .tuple(
        fc.record(keywords, { requiredKeys: [] }),
        fc.record(
          {
            default: value,
            properties: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
            additionalProperties: tie('schema'),
            items: tie('schema'),
            prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
        fc.nat(),
      )
      .map(([plain, nested, pick]) => fewOf({ ...plain, ...nested }, pick) as JsonValue),
  ),
}));

/** A few keywords at a time: what has to keep to all of them keeps to none. */
function fewOf(whole: object, pick: number): object {
  const entries = Object.entries(whole);
  return Object.fromEntries(entries.filter((_, index) => (index + pick) % 5 < 2));
}

describe('a value that plainly fits a schema', () => {
  test.each([{ fillDefaults: false }, { fillDefaults: true }])('fits it by ajv too: %o', (options) => {
    let fitting = 0;
    fc.assert(
      fc.property(schema, value, (each, given) => {
        if (!isPlainlySound(each) || !fitsPlainly(each, given, options)) return;
        fitting += 1;
        expect(compileSchema(each as JsonObject | boolean, options)(structuredClone(given))).toEqual([]);
      }),
      { seed: 11, numRuns: 1500 },
    );
    expect(fitting).toBeGreaterThan(400);
  });

  const order: JsonObject = {
    type: 'object',
    properties: {
      id: { type: 'string', minLength: 1 },
      items: { type: 'array', items: { type: 'object', properties: { qty: { type: 'integer', minimum: 1 } } } },
      contact: { type: 'string', format: 'email' },
      dueOn: { type: ['string', 'null'], format: 'date', default: null },
      channel: { enum: ['web', 'phone'], default: 'web' },
    },
    required: ['id', 'channel'],
    additionalProperties: false,
  };

  test('is found so where the schema is of the usual kind', () => {
    const given = { id: 'o-1', items: [{ qty: 2 }], contact: 'eva@example.test' };
    expect(fitsPlainly(order, given, { fillDefaults: true })).toBe(true);
    expect(fitsPlainly(order, { ...given, channel: 'phone', dueOn: '2030-01-31' })).toBe(false);
    expect(fitsPlainly(order, { ...given, channel: 'phone', dueOn: '2030-01-28' })).toBe(true);
  });

  test.each<[string, JsonValue]>([
    ['a field that is missing', { items: [] }],
    ['a field that is not declared', { id: 'o-1', colour: 'red' }],
    ['a field of another type', { id: 1 }],
    ['a number below the least', { id: 'o-1', items: [{ qty: 0 }] }],
    ['a text that none of the choices is', { id: 'o-1', channel: 'fax' }],
  ])('is not one with %s', (_, given) => {
    expect(fitsPlainly(order, given, { fillDefaults: true })).toBe(false);
  });
});
