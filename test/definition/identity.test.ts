import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonValue, canonicalJson, isJsonObject } from '../../src/common/index.js';
import { definitionFromCanonical, sealDefinition } from '../../src/definition/index.js';
import { definitionOf, documentOf, everythingElse, orderFulfilment } from './flows.js';
import { layouts, shuffled, write } from './layouts.js';

const flows = { orderFulfilment, everythingElse };

describe.each(Object.entries(flows))('the hash of %s', (_, text) => {
  const { hash, document, canonical } = definitionOf(text);

  test('is the same however the flow is laid out', () => {
    fc.assert(
      fc.property(layouts, (layout) => {
        expect(definitionOf(write(documentOf(text) as unknown as JsonValue, layout)).hash).toBe(hash);
      }),
      { seed: 7, numRuns: 25 },
    );
  });

  test('is the same for the flow as JSON', () => {
    expect(definitionOf(JSON.stringify(documentOf(text))).hash).toBe(hash);
    expect(definitionOf(JSON.stringify(shuffled(documentOf(text) as unknown as JsonValue, 3), null, 4)).hash).toBe(
      hash,
    );
  });

  test('is that of the canonical text, from which the definition can be had back', () => {
    expect(createHash('sha256').update(canonical).digest('hex')).toBe(hash);
    expect(definitionFromCanonical(canonical)).toEqual(sealDefinition(documentOf(text)));
  });

  test('differs when anything at all is changed, left out or added', () => {
    const hashes = new Set([hash]);
    const changes = [...changesOf(document as unknown as JsonValue)];
    for (const changed of changes) hashes.add(hashOf(changed));
    expect(changes.length).toBeGreaterThan(150);
    expect(hashes.size).toBe(changes.length + 1);
  });

  test('does not see labels, $schema, and descriptions that are no data', () => {
    const changed = text
      .replace(/^\$schema: .*\n/, '')
      .replace(/^labels: .*\n/m, '')
      .replace(/^description: .*\n/m, 'description: something else\n')
      .replace('    description: Something to begin with.\n', '')
      .replace(', description: A field that is called description.', '')
      .replace('  description: What the run is given.\n', '');
    expect(changed).not.toBe(text);
    expect(definitionOf(changed).hash).toBe(hash);
  });

  test('is of a document that nobody can change any more', () => {
    expect(Object.isFrozen(document)).toBe(true);
    expect(() => document.steps.push({ sleep: '1s' })).toThrow(TypeError);
    expect(Object.isFrozen(document.steps[0])).toBe(true);
  });
});

/** Of any document, also of one that is no flow any more. */
function hashOf(definition: JsonValue): string {
  return definitionFromCanonical(canonicalJson({ definition, language: 'runsheet/1' })).hash;
}

/** The value with one leaf, member or element changed: each possible change once. */
function* changesOf(value: JsonValue): Generator<JsonValue> {
  if (Array.isArray(value)) {
    yield [...value, 'one more'];
    for (const [index, element] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const changed of changesOf(element)) yield value.with(index, changed);
    }
  } else if (isJsonObject(value)) {
    yield { ...value, oneMore: 1 };
    for (const [key, member] of Object.entries(value)) {
      const { [key]: _left, ...rest } = value;
      yield rest;
      for (const changed of changesOf(member)) yield { ...rest, [key]: changed };
    }
  } else {
    yield typeof value === 'string' ? `${value}x` : typeof value === 'number' ? value + 1 : `not ${value}`;
  }
}

describe('what is the same to the hash', () => {
  const flow = (steps: string): string => definitionOf(`workflow: w\nsteps:\n  - ${steps}\n`).hash;

  test.each([
    ['the = of a condition', '{ when: "=1 = 1", set: 1 }', '{ when: "1 = 1", set: 1 }'],
    ['space around a formula', '{ id: a, set: "=  $input.x  " }', '{ id: a, set: "=$input.x" }'],
    ['a plain true and the formula', '{ when: true, set: 1 }', '{ when: "=true", set: 1 }'],
    ['space around a condition', '{ doWhile: " = $iteration < 3 ", do: [] }', '{ doWhile: "$iteration < 3", do: [] }'],
    ['1.0 and 1', '{ set: 1.0 }', '{ set: 1 }'],
  ])('%s', (_, one, other) => {
    expect(flow(one)).toBe(flow(other));
  });

  test.each([
    ['space inside a formula', '{ set: "=1+1" }', '{ set: "=1 + 1" }'],
    ['space around a literal', '{ set: " a" }', '{ set: "a" }'],
    ['a literal and a formula', '{ set: "1" }', '{ set: "=1" }'],
    ['a text and a number', '{ set: "1" }', '{ set: 1 }'],
    ['a description in data', '{ set: { description: a } }', '{ set: { description: b } }'],
    ['the order of a list', '{ set: [1, 2] }', '{ set: [2, 1] }'],
    ['a default that is written out', '{ sleep: 1s }', '{ sleep: 1s, onError: [] }'],
    ['a description in the default of a schema', gate('{ default: { description: a } }'), gate('{ default: {} }')],
    ['a field called description', gate('{ properties: { description: true } }'), gate('{ properties: {} }')],
    ['the name of a field', gate('{ properties: { a: true } }'), gate('{ properties: { b: true } }')],
  ])('but not %s', (_, one, other) => {
    expect(flow(one)).not.toBe(flow(other));
  });

  function gate(schema: string): string {
    return `{ waitFor: go, timeout: 1h, schema: ${schema} }`;
  }

  test('a description of a schema is not seen, however deep', () => {
    const deep = (words: string): string =>
      gate(`{ anyOf: [{ items: { description: ${words} } }], $defs: { a: { not: { description: ${words} } } } }`);
    expect(flow(deep('one'))).toBe(flow(deep('two')));
  });
});

describe('a stored definition', () => {
  test.each([
    ['no JSON', '{', /not JSON/],
    ['another language', '{"definition":{"steps":[],"workflow":"a"},"language":"runsheet/9"}', /runsheet\/1/],
    ['no canonical form', '{"language":"runsheet/1","definition":{"steps":[],"workflow":"a"}}', /canonical/],
  ])('is refused if it is %s', (_, text, message) => {
    expect(() => definitionFromCanonical(text)).toThrow(message);
  });

  test('has another hash when somebody has changed it', () => {
    const { canonical, hash } = definitionOf(orderFulfilment);
    expect(definitionFromCanonical(canonical.replace('"20s"', '"21s"')).hash).not.toBe(hash);
  });
});
