import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonObject, type JsonValue, isJsonObject } from '../../src/common/index.js';
import { Source, parseDocument, toValue } from '../../src/syntax/index.js';
import { readFlowTest } from '../../src/testing/flow-tests/index.js';
import { testShapes, testWords } from '../../src/testing/flow-tests/shapes.js';
import { expectCurrentTypes } from '../support/generated-types.js';

interface MapSchema extends JsonObject {
  properties: JsonObject;
}

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/flow-test.schema.json', import.meta.url), 'utf8'),
) as MapSchema & { $defs: Record<string, MapSchema> };

function ajv(): Ajv2020 {
  const instance = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  for (const keyword of ['markdownDescription', 'defaultSnippets', 'tsType']) instance.addKeyword(keyword);
  return instance;
}

const fitsSchema = ajv().compile(schema);
const everything = readFileSync(new URL('everything.test.yaml', import.meta.url), 'utf8');

describe('schemas/flow-test.schema.json', () => {
  test('is a valid schema in strict mode', () => {
    expect(ajv().validateSchema(schema)).toBe(true);
  });

  test('has generated the types as they are', async () => {
    await expectCurrentTypes('flowTest');
  });

  /** The schema splits a shape where one key decides which others may stand beside it. */
  const parts: Partial<Record<string, readonly string[]>> = {
    reply: ['throwingReply', 'returningReply'],
    signal: ['signalAt', 'signalAfter'],
    crashPoint: ['crashAfter', 'crashDuring', 'crashAt'],
    cancel: ['cancelAt', 'cancelAfter'],
    expect: ['expectedRun', 'expectedRefusal'],
  };

  test.each(Object.entries(testShapes))('has the same keys for %s as the checker', (name, shape) => {
    const definitions = name === 'file' ? [schema] : (parts[name] ?? [name]).map((part) => schema.$defs[part]);
    const keys = new Set(definitions.flatMap((each) => Object.keys(each?.properties ?? {})));
    expect([...keys].sort()).toEqual(Object.keys(shape.keys).sort());
    for (const each of definitions) {
      expect(each?.additionalProperties).toBe(false);
      expect(each?.required ?? []).toEqual(
        expect.arrayContaining([...shape.required].filter((key) => key in (each?.properties ?? {}))),
      );
    }
  });

  test('has the same words as the checker', () => {
    const property = (definition: string, key: string): JsonValue | undefined =>
      (schema.$defs[definition]?.properties[key] as JsonObject).enum;
    expect(property('expectedRun', 'status')).toEqual(testWords.status);
    expect(property('expectedRun', 'rollback')).toEqual(testWords.rollback);
    expect(property('expectedRefusal', 'refused')).toEqual(testWords['start refusal']);
    expect(schema.$defs.signalRefusal?.enum).toEqual(testWords['signal refusal']);
    expect(schema.$defs.cancelRefusal?.enum).toEqual(testWords['cancel refusal']);
    expect(schema.$defs.resumeRefusal?.enum).toEqual(testWords['resume refusal']);
    expect(property('decision', 'decide')).toEqual(testWords.verdict);
    expect(schema.$defs.decisionRefusal?.enum).toEqual(testWords['decision refusal']);
  });

  test('explains every key', () => {
    const keys = [schema, ...Object.values(schema.$defs)].flatMap((each) => Object.entries(each.properties ?? {}));
    expect(keys.filter(([, key]) => explanationOf(key as JsonObject) === undefined).map(([name]) => name)).toEqual([]);
  });

  function explanationOf(key: JsonObject): JsonValue | undefined {
    const target = String(key.$ref).replace('#/$defs/', '');
    return key.markdownDescription ?? schema.$defs[target]?.markdownDescription;
  }
});

describe('the checker and the schema', () => {
  const valid = documentOf(everything);

  test('accept the same file', () => {
    expect(readFlowTest(new Source('everything.test.yaml', everything)).diagnostics).toEqual([]);
    expect(fitsSchema(valid), JSON.stringify(fitsSchema.errors)).toBe(true);
  });

  /** What the schema cannot say: dates that do not exist, durations beyond a hundred years. */
  const odd: JsonValue[] = [
    null,
    true,
    0,
    -1,
    1.5,
    7,
    'x',
    '=x',
    'real',
    'every',
    '5m',
    '5',
    'a-b',
    [],
    {},
    ['x'],
    [1],
    { x: 1 },
  ];
  const keys = [...new Set(Object.values(testShapes).flatMap((shape) => Object.keys(shape.keys)))];

  /** The file with one value replaced, one key added or one thing left out somewhere. */
  const mutants = fc
    .record({
      place: fc.nat(),
      how: fc.constantFrom('replace', 'remove', 'add'),
      value: fc.constantFrom(...odd),
      key: fc.constantFrom(...keys),
    })
    .map(({ place, how, value, key }) => {
      const document = structuredClone(valid);
      const places = [...placesIn(document)];
      const [holder, name] = places[place % places.length] ?? [document, 'tests'];
      const here: JsonValue | undefined = Array.isArray(holder) ? holder[Number(name)] : holder[name];
      if (how === 'add') (isJsonObject(here) ? here : document)[key] = value;
      else if (how === 'remove' && Array.isArray(holder)) holder.splice(Number(name), 1);
      else if (how === 'remove') delete (holder as JsonObject)[name];
      else if (Array.isArray(holder)) holder[Number(name)] = value;
      else (holder as JsonObject)[name] = value;
      return document;
    });

  test('refuse the same files', () => {
    let refused = 0;
    fc.assert(
      fc.property(mutants, (document) => {
        const { diagnostics } = readFlowTest(new Source('mutant.json', JSON.stringify(document, null, 2)));
        const errors = diagnostics.filter(({ severity }) => severity === 'error');
        const fits = fitsSchema(document);
        if (!fits) refused += 1;
        expect(errors.length === 0, `${JSON.stringify(errors)} ${JSON.stringify(fitsSchema.errors)}`).toBe(fits);
      }),
      { seed: 2030, numRuns: 800 },
    );
    expect(refused).toBeGreaterThan(200);
  });

  /** Every member and element, except inside data, which may be anything. */
  function* placesIn(value: JsonValue): Generator<[JsonObject | JsonValue[], string]> {
    const data = ['input', 'returns', 'payload', 'details', 'output'];
    if (Array.isArray(value)) {
      for (const [index, each] of value.entries()) {
        yield [value, String(index)];
        yield* placesIn(each);
      }
    } else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        yield [value, key];
        if (!data.includes(key)) yield* placesIn(each);
      }
    }
  }
});

function documentOf(text: string): JsonObject {
  const { root } = parseDocument(new Source('file.yaml', text));
  if (root === undefined) throw new Error('the file does not parse');
  return toValue(root) as JsonObject;
}
