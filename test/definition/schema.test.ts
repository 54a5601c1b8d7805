import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonObject, type JsonValue, isJsonObject } from '../../src/common/index.js';
import { readWorkflow, verbs } from '../../src/definition/index.js';
import { innerShapes, itemShapes, workflowShape } from '../../src/definition/shapes.js';
import { Source } from '../../src/syntax/index.js';
import { expectCurrentTypes } from '../support/generated-types.js';
import { documentOf, everythingElse, orderFulfilment } from './flows.js';

interface MapSchema extends JsonObject {
  properties: JsonObject;
}

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/workflow.schema.json', import.meta.url), 'utf8'),
) as MapSchema & { $defs: Record<string, MapSchema> };

function ajv(): Ajv2020 {
  const instance = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  for (const keyword of ['markdownDescription', 'defaultSnippets', 'tsType', 'errorMessage', 'patternErrorMessage'])
    instance.addKeyword(keyword);
  return instance;
}

const fitsSchema = ajv().compile(schema);

describe('schemas/workflow.schema.json', () => {
  test('is a valid schema in strict mode', () => {
    expect(ajv().validateSchema(schema)).toBe(true);
  });

  test('has generated the types as they are', async () => {
    await expectCurrentTypes('workflow');
  });

  const shapes = [
    ['workflow', workflowShape, schema] as const,
    ...verbs.map((verb) => [verb, itemShapes[verb], schema.$defs[`${verb}Item`]] as const),
    ...Object.entries(innerShapes).map(([name, shape]) => [name, shape, schema.$defs[name]] as const),
  ];

  test.each(shapes)('has the same keys for %s as the checker', (_, shape, definition) => {
    expect(Object.keys(definition?.properties ?? {}).sort()).toEqual(Object.keys(shape.keys).sort());
    expect(definition?.required ?? []).toEqual(shape.required);
    expect(definition?.additionalProperties).toBe(false);
  });

  test('looks for the verbs in the order of the list, and offers each before one is chosen', () => {
    const chain: string[] = [];
    let link: JsonValue | undefined = schema.$defs.item;
    while (isJsonObject(link) && isJsonObject(link.if)) {
      chain.push((link.if.required as string[]).join());
      link = link.else;
    }
    expect(chain).toEqual(verbs);
    const offered = Object.keys(schema.$defs.itemWithoutVerb?.properties ?? {});
    expect(offered.filter((key) => (verbs as readonly string[]).includes(key))).toEqual(verbs);
  });

  test('explains every key and has a snippet for every verb', () => {
    const keys = [schema, ...Object.values(schema.$defs)].flatMap((each) =>
      each.tsType === 'never' ? [] : Object.entries(each.properties ?? {}),
    );
    const silent = keys.filter(([, key]) => explanationOf(key as JsonObject) === undefined).map(([name]) => name);
    expect(silent).toEqual([]);
    const snippets = schema.$defs.itemWithoutVerb?.defaultSnippets as { label: string; body: JsonObject }[];
    expect(snippets.map(({ label }) => label)).toEqual(verbs);
    for (const { label, body } of snippets) expect(Object.keys(body)).toContain(label);
  });

  function explanationOf(key: JsonObject): JsonValue | undefined {
    const target = String(key.$ref).replace('#/$defs/', '');
    return key.markdownDescription ?? schema.$defs[target]?.markdownDescription;
  }
});

describe('the checker and the schema', () => {
  test.each([orderFulfilment, everythingElse])('accept the same flows', (text) => {
    expect(fitsSchema(documentOf(text)), JSON.stringify(fitsSchema.errors)).toBe(true);
  });

  /** Rules that only the checker knows: they need to look around, or into schemas and texts. */
  const beyondShape = new Set(
    'RS2016 RS2020 RS2021 RS2022 RS2023 RS2025 RS2026 RS2027 RS2030 RS2031 RS2032 RS2033 RS2034 RS2035 RS2036'.split(
      ' ',
    ),
  );
  const odd: JsonValue[] = [
    null,
    true,
    0,
    -1,
    1.5,
    7,
    '',
    'x',
    '=x',
    'never',
    '5m',
    '5',
    'a-b',
    [],
    {},
    ['x'],
    [1],
    { x: 1 },
  ];
  const keys = [
    ...new Set(
      [workflowShape, ...Object.values(itemShapes), ...Object.values(innerShapes)].flatMap((s) => Object.keys(s.keys)),
    ),
  ];

  const documents = [orderFulfilment, everythingElse].map((text) => documentOf(text) as unknown as JsonObject);

  /** A document with one value replaced, one key added or one thing left out somewhere. */
  const mutants = fc
    .record({
      original: fc.constantFrom(...documents),
      place: fc.nat(),
      how: fc.constantFrom('replace', 'remove', 'add'),
      value: fc.constantFrom(...odd),
      key: fc.constantFrom(...keys),
    })
    .map(({ original, place, how, value, key }) => {
      const document = structuredClone(original);
      const places = [...placesIn(document)];
      const [holder, name] = places[place % places.length] ?? [document, 'steps'];
      const here: JsonValue | undefined = Array.isArray(holder) ? holder[Number(name)] : holder[name];
      if (how === 'add') (isJsonObject(here) ? here : document)[key] = value;
      else if (how === 'remove' && Array.isArray(holder)) holder.splice(Number(name), 1);
      else if (how === 'remove') delete (holder as JsonObject)[name];
      else if (Array.isArray(holder)) holder[Number(name)] = value;
      else (holder as JsonObject)[name] = value;
      return document;
    });

  test('refuse the same documents', () => {
    let refused = 0;
    fc.assert(
      fc.property(mutants, (document) => {
        const text = JSON.stringify(document, null, 2);
        const errors = readWorkflow(new Source('mutant.json', text)).diagnostics.filter((d) => d.severity === 'error');
        fc.pre(errors.every(({ code }) => !beyondShape.has(code) && !code.startsWith('RS1')));
        const fits = fitsSchema(document);
        if (!fits) refused += 1;
        expect(errors.length === 0, `${JSON.stringify(errors)} ${JSON.stringify(fitsSchema.errors)}`).toBe(fits);
      }),
      { seed: 2020, numRuns: 400 },
    );
    expect(refused).toBeGreaterThan(80);
  });

  /** Every member and element, except inside JSON Schemas and data, which have shapes of their own. */
  function* placesIn(value: JsonValue): Generator<[JsonObject | JsonValue[], string]> {
    if (Array.isArray(value)) {
      for (const [index, each] of value.entries()) {
        yield [value, String(index)];
        yield* placesIn(each);
      }
    } else if (isJsonObject(value)) {
      const opaque = [
        'input',
        'inputSchema',
        'schema',
        'with',
        'set',
        'constants',
        'output',
        'onTimeout',
        'details',
        'complete',
      ];
      for (const [key, each] of Object.entries(value)) {
        yield [value, key];
        if (!opaque.includes(key)) yield* placesIn(each);
      }
    }
  }
});
