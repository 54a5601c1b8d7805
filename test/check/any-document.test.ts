import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonValue, isJsonObject } from '../../src/common/index.js';
import { checkSource } from '../../src/check/index.js';
import { Source, parseDocument, toValue } from '../../src/syntax/index.js';

const at = (name: string): string => readFileSync(new URL(`../definition/${name}.yaml`, import.meta.url), 'utf8');

const documents = ['order-fulfilment', 'everything-else'].map((name) => {
  const { root } = parseDocument(new Source(name, at(name)));
  return root === undefined ? null : toValue(root);
});

/** Values that some key of the language allows and most do not. */
const odd = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    0,
    1.5,
    '',
    '=',
    '=$',
    '=$steps.',
    '=(',
    'never',
    '5',
    '{{x}}',
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<JsonValue>(
    { $secret: 1 },
    { until: {} },
    { else: [] },
    { step: 1 },
    { type: 'x', default: {} },
    { $ref: '#' },
  ),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue),
);

const mutants = fc
  .record({
    document: fc.constantFrom(...documents),
    changes: fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 }),
  })
  .map(({ document, changes }) => {
    let mutant = structuredClone(document);
    for (const [place, value] of changes) mutant = changed(mutant, place, value);
    return mutant;
  });

/** The value with the member or element at the n-th place replaced. */
function changed(value: JsonValue, place: number, by: JsonValue): JsonValue {
  const holders: [JsonValue[] | Record<string, JsonValue>, string][] = [];
  const visit = (each: JsonValue): void => {
    if (Array.isArray(each)) for (const index of each.keys()) holders.push([each, String(index)]);
    else if (isJsonObject(each)) for (const key of Object.keys(each)) holders.push([each, key]);
    if (typeof each === 'object' && each !== null) Object.values(each).forEach(visit);
  };
  visit(value);
  const [holder, key] = holders[place % Math.max(1, holders.length)] ?? [];
  if (holder === undefined || key === undefined) return by;
  (holder as Record<string, JsonValue>)[key] = by;
  return value;
}

describe('whatever a document holds', () => {
  test('it is a definition or has an error, every diagnostic has a place in the text, and nothing is said twice', () => {
    fc.assert(
      fc.property(mutants, (mutant) => {
        const source = new Source('mutant.json', JSON.stringify(mutant, null, 1));
        const { definition, diagnostics } = checkSource(source);
        const errors = diagnostics.filter(({ severity }) => severity === 'error');
        expect(definition === undefined).toBe(errors.length > 0);
        for (const { range } of diagnostics) {
          expect(range.start).toBeGreaterThanOrEqual(0);
          expect(range.end).toBeGreaterThanOrEqual(range.start);
          expect(range.end).toBeLessThanOrEqual(source.text.length);
        }
        const said = diagnostics.map(({ code, range, message }) => `${code} ${range.start} ${message}`);
        expect(new Set(said).size).toBe(said.length);
        const starts = diagnostics.map(({ range }) => range.start);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
      { seed: 4, numRuns: Number(process.env.CHECK_RUNS ?? 100) },
    );
  });
});
