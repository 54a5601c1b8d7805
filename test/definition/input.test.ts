import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/common/index.js';
import { inputSchemaOf, validateInput } from '../../src/definition/index.js';
import { definitionOf, documentOf, orderFulfilment } from './flows.js';

const flow = (input: string): string => `workflow: w\ninput: ${input}\nsteps: []\n`;
const schemaOf = (input: string): JsonValue => inputSchemaOf(documentOf(flow(input)));

describe('the input of a workflow as JSON Schema', () => {
  test('a field is required unless it has a default or is optional; others are refused', () => {
    const fields = '{ a: { type: string }, b: { default: 1 }, c: { type: number, optional: true }, d: true }';
    expect(schemaOf(fields)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { default: 1 }, c: { type: 'number' }, d: true },
      required: ['a', 'd'],
      additionalProperties: false,
    });
  });

  test('the same holds inside, in lists too', () => {
    const fields = '{ a: { items: { properties: { b: { type: string }, c: { optional: true } } } } }';
    expect(schemaOf(fields)).toMatchObject({
      properties: { a: { items: { properties: { c: {} }, required: ['b'], additionalProperties: false } } },
    });
  });

  test('its own `required` and `additionalProperties` come first', () => {
    const fields = '{ a: { properties: { b: {}, c: {} }, required: [c], additionalProperties: { type: string } } }';
    expect(schemaOf(fields)).toMatchObject({
      properties: { a: { required: ['c'], additionalProperties: { type: 'string' } } },
    });
  });

  test('alternatives are closed, but not those that narrow fields listed beside them', () => {
    const one = '{ a: { oneOf: [{ properties: { b: {} } }] } }';
    expect(schemaOf(one)).toMatchObject({
      properties: { a: { oneOf: [{ required: ['b'], additionalProperties: false }] } },
    });
    const narrowing = '{ a: { properties: { k: {}, b: {} }, anyOf: [{ properties: { k: { const: 1 } } }] } }';
    expect(schemaOf(narrowing)).toMatchObject({ properties: { a: { anyOf: [{ properties: { k: { const: 1 } } }] } } });
    expect(JSON.stringify(schemaOf(narrowing)).match(/additionalProperties/g)).toHaveLength(2);
  });

  test('data in schemas is left alone', () => {
    const fields = '{ a: { default: { optional: true, properties: { b: 1 } } } }';
    expect(schemaOf(fields)).toMatchObject({
      properties: { a: { default: { optional: true, properties: { b: 1 } } } },
    });
  });

  test('`inputSchema` is taken as it stands', () => {
    const text = 'workflow: w\ninputSchema: { properties: { a: { type: string } } }\nsteps: []\n';
    expect(inputSchemaOf(documentOf(text))).toEqual({ properties: { a: { type: 'string' } } });
  });

  test('a workflow that declares no input takes an empty map', async () => {
    const definition = definitionOf('workflow: w\nsteps: []\n');
    expect(await validateInput(definition, {})).toEqual({ ok: true, value: {} });
    expect(await validateInput(definition, undefined)).toEqual({ ok: true, value: {} });
    expect(await validateInput(definition, { a: 1 })).toMatchObject({ ok: false });
    expect(await validateInput(definition, null)).toMatchObject({ ok: false });
  });
});

describe('the input of a run', () => {
  const definition = definitionOf(orderFulfilment);
  const order = {
    orderId: 'o-1',
    customer: { id: 'c-1', email: 'a@example.test' },
    items: [{ sku: 's', qty: 1 }],
    total: 10,
  };

  test('has its defaults filled in, and the value given is not changed', async () => {
    const given = structuredClone(order);
    expect(await validateInput(definition, given)).toEqual({ ok: true, value: { ...order, currency: 'EUR' } });
    expect(given).toEqual(order);
  });

  test.each<[string, JsonValue, { path: string; message: string }[]]>([
    ['a missing field', without('total'), [{ path: '/total', message: 'is missing' }]],
    [
      'a misspelt field',
      { ...order, curency: 'USD' },
      [{ path: '/curency', message: 'is not a field here; did you mean "currency"?' }],
    ],
    ['a wrong type', { ...order, total: '10' }, [{ path: '/total', message: 'must be a number, is "10"' }]],
    [
      'mistakes deep inside, all at once',
      { ...order, items: [{ sku: 1, qty: 0 }, { qty: 1.5 }] },
      [
        { path: '/items/0/sku', message: 'must be a text, is 1' },
        { path: '/items/0/qty', message: 'must be >= 1' },
        { path: '/items/1/sku', message: 'is missing' },
        { path: '/items/1/qty', message: 'must be a whole number, is 1.5' },
      ],
    ],
    ['an empty list', { ...order, items: [] }, [{ path: '/items', message: 'must NOT have fewer than 1 items' }]],
    ['no map at all', [order], [{ path: '', message: 'must be a map of fields, is a list' }]],
  ])('is refused for %s', async (_, input, problems) => {
    const result = await validateInput(definition, input);
    expect(result.ok).toBe(false);
    const found = 'problems' in result ? [...result.problems] : [];
    const told = found.map(({ path, message }) => ({ path, message }));
    expect(told.sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      problems.sort((a, b) => (a.path < b.path ? -1 : 1)),
    );
  });

  test('is described by one problem where alternatives fail', async () => {
    const either = definitionOf(
      flow('{ a: { anyOf: [{ type: string }, { type: object, properties: { b: true } }] } }'),
    );
    expect(await validateInput(either, { a: 5 })).toEqual({
      ok: false,
      problems: [{ path: '/a', message: 'fits none of the forms that its schema allows, or more than one: 5' }],
    });
  });

  test('cannot hang a pattern', async () => {
    const evil = definitionOf(flow('{ a: { type: string, pattern: "^(a+)+$" } }'));
    // By trial and error it would take longer than anybody waits.
    expect((await validateInput(evil, { a: `${'a'.repeat(50_000)}!` })).ok).toBe(false);
  });

  test('has at most fifty problems told', async () => {
    const list = definitionOf(flow('{ a: { type: array, items: { type: string } } }'));
    const result = await validateInput(list, { a: Array.from({ length: 10_000 }, (_, index) => index) });
    expect('problems' in result && result.problems).toHaveLength(50);
  });

  function without(field: keyof typeof order): JsonValue {
    const { [field]: _left, ...rest } = order;
    return rest;
  }
});
