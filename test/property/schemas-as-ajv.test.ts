import type { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/common/index.js';
import { compileSchema } from '../../src/definition/index.js';
import { seededRandom } from '../../src/expression/random.js';

/*
 * What Runsheet says of a value is what `ajv` by itself says of it: random schemas, each with a number of values, many
 * of which are made to nearly fit. `SCHEMA_PAIRS=100000` is the full form.
 */

const pairs = Number(process.env['SCHEMA_PAIRS'] ?? 2000);
const seed = process.env['SCHEMA_SEED'] ?? 'schemas';
const valuesEach = 10;

const load = createRequire(import.meta.url);
const { Ajv2020 } = load('ajv/dist/2020.js') as { Ajv2020: typeof Ajv };
const addFormats = (load('ajv-formats') as { default: (ajv: Ajv) => Ajv }).default;
const plainAjv = (): Ajv => addFormats(new Ajv2020({ allErrors: true, strict: false, logger: false }));

const random = seededRandom(seed);
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
const maybe = (share: number): boolean => random() < share;

const patterns = [
  ...[
    '^a+$',
    '^b+$',
    '^c?$',
    '[0-9]{2,3}',
    '^\\d+-\\d+$',
    '\\s',
    '^\\S+$',
    '^.$',
    '^[^\\s]*$',
    '^[\\w.]+$',
    '\\bab\\b',
  ],
  ...['^\\p{Lu}', '^(?:a|b)*$', '^[A-Z]{3}$', '^x-', '^[^]*$', '^[[:a]+$', '^\\u00e9$', 'a/b', '^$', '^😀+$', '\\.$'],
] as unknown as readonly [string, ...string[]];
const formats = [
  ...['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference', 'uuid'],
  ...['json-pointer', 'regex', 'byte', 'int32', 'double'],
] as unknown as readonly [string, ...string[]];
const texts = [
  ...[
    '',
    'a',
    'aa',
    'b',
    'bb',
    'ab',
    'ab ab',
    'c',
    '12',
    '123',
    '1-2',
    '1-',
    ' ',
    '\u00a0',
    '\u2028',
    '\n',
    '\v',
    '\r',
  ],
  ...[
    '\ufeff',
    '\u180e',
    'Ä',
    'é',
    'ABC',
    'abc',
    'x-1',
    'y-1',
    'a/b',
    '😀',
    '😀😀',
    '[',
    ':',
    'a:',
    'end.',
    '_',
    'ß',
    '\0',
  ],
  ...[
    '2030-01-31',
    '2030-02-30',
    '2028-02-29',
    '10:00:00Z',
    '2030-01-31T10:00:00Z',
    '2030-02-30T10:00:00Z',
    'P1D',
    'P',
  ],
  ...['2030-01-31T10:00:00+01:00', 'eva@example.test', 'eva@', 'example.test', '127.0.0.1', '::1', '256.1.1.1', '/a/b'],
  ...['https://example.test/a?b=c', '6fa459ea-ee8a-3ca4-894e-db77e160355e', '[', '(', 'YQ==', 'a'.repeat(40)],
] as unknown as readonly [string, ...string[]];
const names = ['a', 'b', 'x-1', 'ab', 'length', 'c'] as const;
const numbers = [0, 1, -1, 2, 3, 10, 0.5, 1.5, -2.5, 2 ** 31, 2 ** 40, 1e15] as const;

/** Undefined where `ajv` throws: its count for `unevaluatedProperties`, kept also where there are none, is at times wrong. */
function verdictOf(validate: (value: JsonValue) => unknown, value: JsonValue): boolean | undefined {
  try {
    return validate(structuredClone(value)) === true;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function schemaOf(depth: number): JsonObject | boolean {
  if (maybe(0.04)) return maybe(0.7);
  const schema: JsonObject = {};
  const keywords = 1 + below(3);
  for (let index = 0; index < keywords; index += 1) Object.assign(schema, keywordOf(depth));
  if (maybe(0.3)) schema['type'] = pick(['string', 'object', 'array', 'number', 'integer', 'boolean', 'null'] as const);
  return schema;
}

function keywordOf(depth: number): JsonObject {
  if (depth > 0 && maybe(0.65)) return nestingOf(depth - 1);
  switch (below(12)) {
    case 0:
    case 1:
    case 2:
      return { pattern: pick(patterns) };
    case 3:
    case 4:
      return { format: pick(formats) };
    case 5:
      return {
        [pick(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const)]: below(3),
      };
    case 6:
      return { [pick(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const)]: pick(numbers) };
    case 7:
      return { multipleOf: pick([1, 2, 3, 0.5] as const) };
    case 8:
      return { enum: [pick(texts), pick(numbers), valueOf(1)] };
    case 9:
      return { const: valueOf(1) };
    case 10:
      return { required: [pick(names)] };
    default:
      return { uniqueItems: true };
  }
}

function nestingOf(depth: number): JsonObject {
  const inner = (): JsonValue => schemaOf(depth);
  const map = (keys: () => string): JsonObject =>
    Object.fromEntries(Array.from({ length: 1 + below(3) }, () => [keys(), inner()]));
  switch (below(14)) {
    case 0:
    case 1:
    case 2:
      return { properties: map(() => pick(names)) };
    case 3:
    case 4:
      return { patternProperties: map(() => pick(patterns)) };
    case 5:
      return { properties: map(() => pick(names)), additionalProperties: maybe(0.5) ? false : inner() };
    case 6:
      return { items: inner() };
    case 7:
      return { prefixItems: [inner(), inner()], items: inner() };
    case 8:
      return { [pick(['anyOf', 'oneOf', 'allOf'] as const)]: [inner(), inner()] };
    case 9:
      return { not: inner() };
    case 10:
      return { if: inner(), then: inner(), else: inner() };
    case 11:
      return { contains: inner() };
    case 12:
      return { propertyNames: inner() };
    default:
      return { $ref: `#/$defs/${pick(['one', 'two'] as const)}` };
  }
}

function valueOf(depth: number): JsonValue {
  const kind = below(depth > 0 ? 10 : 7);
  if (kind < 4) return pick(texts);
  if (kind < 6) return pick(numbers);
  if (kind === 6) return pick([null, true, false] as const);
  if (kind === 7) return Array.from({ length: below(4) }, () => valueOf(depth - 1));
  return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(names), valueOf(depth - 1)]));
}

test(`${pairs} random schemas and values, as by ajv alone`, { timeout: 1_800_000 }, () => {
  let fitting = 0;
  let compared = 0;
  while (compared < pairs) {
    const root = schemaOf(3);
    const schema: JsonObject | boolean =
      typeof root === 'boolean' ? root : { ...root, $defs: { one: schemaOf(0), two: schemaOf(1) } };
    // A reference of `two` to itself has no end.
    if (JSON.stringify(typeof schema === 'boolean' ? {} : schema['$defs']).includes('$ref')) continue;
    const ours = compileSchema(schema);
    const theirs = plainAjv().compile(schema);
    for (let index = 0; index < valuesEach; index += 1, compared += 1) {
      const value = valueOf(3);
      const fits = verdictOf(theirs, value);
      if (fits === undefined) continue;
      if (fits) fitting += 1;
      const problems = ours(structuredClone(value));
      if ((problems.length === 0) !== fits) {
        expect.fail(
          `${JSON.stringify(schema)}\n${JSON.stringify(value)}\najv alone: ${String(fits)}; here: ${JSON.stringify(problems)}`,
        );
      }
    }
  }
  expect(fitting).toBeGreaterThan(pairs / 10);
  expect(fitting).toBeLessThan(pairs * 0.9);
});
