import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatNames, schemaErrors } from '../../src/definition/json-schema.js';
import { isPlainlySound } from '../../src/definition/plainly-sound.js';
import type { JsonObject, JsonValue } from '../../src/common/index.js';

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string', 'text'];
const value = fc.oneof(
  fc.constantFrom<JsonValue>(...types, 0, 1, -1, 1.5, true, false, null, '', [], {}),
  fc.array(fc.constantFrom(...types), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
);

const plain = [
  '$comment const default deprecated description enum examples exclusiveMaximum exclusiveMinimum format maxContains',
  'maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf optional',
  'pattern readOnly required title type uniqueItems writeOnly $ref $id $anchor $schema dependentRequired $vocabulary',
].flatMap((line) => line.split(' '));

const { schema } = fc.letrec<{ schema: JsonValue; map: JsonValue }>((tie) => {
  const inner = fc.oneof({ weight: 3, arbitrary: tie('schema') }, { weight: 1, arbitrary: value });
  return {
    map: fc.dictionary(fc.constantFrom('a', 'b', '[', 'type'), inner, { maxKeys: 2 }) as fc.Arbitrary<JsonValue>,
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<JsonValue>(true, false, {}, { type: 'string' }, { type: ['null', 'string'] }),
      fc
        .record(
          {
            ...Object.fromEntries(plain.map((keyword) => [keyword, value])),
            type: fc.oneof(fc.constantFrom<JsonValue>(...types), value),
            required: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
            minLength: fc.oneof(fc.nat(), value),
            properties: tie('map'),
            patternProperties: tie('map'),
            $defs: tie('map'),
            items: inner,
            additionalProperties: inner,
            contentSchema: inner,
            anyOf: fc.oneof(fc.array(inner, { maxLength: 3 }), value),
            prefixItems: fc.oneof(fc.array(inner, { maxLength: 3 }), value),
          },
          { requiredKeys: [] },
        )
        .map(someKeys),
    ),
  } as { schema: fc.Arbitrary<JsonValue>; map: fc.Arbitrary<JsonValue> };
});

/** Few keywords at a time: of a schema with all of them one is wrong almost certainly. */
function someKeys(whole: object): JsonObject {
  const entries = Object.entries(whole) as [string, JsonValue][];
  const [first, ...rest] = entries.filter((_, index) => (index * 7 + entries.length) % 9 === 0);
  return Object.fromEntries(first === undefined ? entries.slice(0, 1) : [first, ...rest]);
}

describe('a schema that is plainly sound', () => {
  test('is valid by the schema of schemas', () => {
    let sound = 0;
    fc.assert(
      fc.property(schema, (each) => {
        if (!isPlainlySound(each)) return;
        sound += 1;
        expect(schemaErrors(each as JsonObject | boolean)).toEqual([]);
      }),
      { seed: 5, numRuns: 1500 },
    );
    expect(sound).toBeGreaterThan(250);
  });

  test.each<[string, JsonValue]>([
    ['the type of a field', { type: 'string', title: 'Name', maxLength: 40 }],
    ['one of several types', { type: ['string', 'null'], enum: ['a', null] }],
    ['a map in a list', { type: 'array', items: { type: 'object', properties: { a: true }, required: ['a'] } }],
    ['a closed map', { type: 'object', additionalProperties: false, $defs: { pattern: { minimum: 0.5 } } }],
    ['an alternative', { anyOf: [{ type: 'string', format: 'email' }, { const: 3 }] }],
  ])('is %s', (_, each) => {
    expect(isPlainlySound(each)).toBe(true);
    expect(schemaErrors(each as JsonObject)).toEqual([]);
  });
});

test('the names of formats are those that are checked', () => {
  const checked = addFormats.default(new Ajv2020({ strict: false })).formats;
  expect([...formatNames]).toEqual(Object.keys(checked));
});
