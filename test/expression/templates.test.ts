import { describe, expect, it } from 'vitest';

import type { JsonValue } from '../../src/common/index.js';
import {
  FormulaError,
  FormulaSyntaxError,
  compileTemplate,
  evaluateTemplate,
  seededRandom,
} from '../../src/expression/index.js';
import { bind, done, noon, order } from './surroundings.js';

const filled = async (template: JsonValue): Promise<JsonValue> =>
  evaluateTemplate(compileTemplate(template), bind(order, done), noon);

describe('a template', () => {
  it('replaces the strings that begin with `=`, at any depth, and keeps their type', async () => {
    expect(
      await filled({
        amount: '=$input.total',
        list: ['=$input.items.sku', { deep: '=$input.express', none: '=$steps.nothing' }],
        text: 'costs = $input.total',
        literal: '="=text"',
        number: 5,
        '=$input.total': 'keys are no formulas',
      }),
    ).toStrictEqual({
      amount: 15,
      list: [['tea', 'cup'], { deep: true, none: null }],
      text: 'costs = $input.total',
      literal: '=text',
      number: 5,
      '=$input.total': 'keys are no formulas',
    });
  });

  it('may be a single formula, or none at all', async () => {
    expect(await filled('=$input.customer.email')).toBe('ann@example.test');
    expect(await filled(null)).toBe(null);
    expect(await filled('text')).toBe('text');
  });

  it('lets references to secrets through', async () => {
    expect(await filled({ key: { $secret: 'API_KEY' } })).toEqual({ key: { $secret: 'API_KEY' } });
  });

  it('is there at once where all formulas are plain paths', () => {
    const template = compileTemplate({ a: '=$input.orderId', b: ['=$input.total', 'x'] });
    expect(evaluateTemplate(template, bind(order), noon)).toStrictEqual({ a: 'A-17', b: [15, 'x'] });
  });

  it('gives a fresh value each time', async () => {
    const template = compileTemplate({ fixed: { list: [1] }, customer: '=$input.customer' });
    const first = (await evaluateTemplate(template, bind(order), noon)) as {
      fixed: { list: number[] };
      customer: object;
    };
    first.fixed.list.push(2);
    Object.assign(first.customer, { id: 'other' });
    expect(await evaluateTemplate(template, bind(order), noon)).toMatchObject({
      fixed: { list: [1] },
      customer: { id: 'c1' },
    });
  });

  it('lists its formulas with their places', () => {
    const { formulas } = compileTemplate({ a: '=$x', b: [{ c: '= $y.z ' }], d: 'none' });
    expect(formulas.map(({ path, formula }) => [path, formula.text])).toEqual([
      ['a', '$x'],
      ['b[0].c', '$y.z'],
    ]);
  });

  it.each([
    [{ to: '=$steps.later.address' }, 'to', 'the value is absent; to allow that, write `$steps.later.address ?? null`'],
    [{ open: '=$input.items[qty > 9]' }, 'open', 'for a list, even of none or one, write `[$input.items[qty > 9]]`'],
    [{ lines: ['=1', { qty: '=$input.items[qty > 9].qty' }] }, 'lines[1].qty', 'the value is absent'],
    [{ sum: '=$input.orderId + 1' }, 'sum', 'the left side of `+` must be a number'],
    [{ f: '=$input.big' }, 'f', 'whole number beyond'],
  ] as [JsonValue, string, string][])('names the field of %j that has no value', async (template, path, message) => {
    const bindings = bind({ input: { ...(order['input'] as object), big: 2 ** 60 } });
    const fill = async (): Promise<JsonValue> => evaluateTemplate(compileTemplate(template), bindings, noon);
    const error = (await fill().catch((caught: unknown) => caught)) as FormulaError;
    expect(error).toBeInstanceOf(FormulaError);
    expect(error.path).toBe(path);
    expect(error.message).toContain(message);
    expect(error.message).toContain(` of \`${path}\``);
  });

  it('does not compile with a mistake in it', () => {
    expect(() => compileTemplate({ a: ['=1 +'] })).toThrow(FormulaSyntaxError);
    expect(() => compileTemplate('=')).toThrow('the formula is empty');
    expect(() => compileTemplate('=$eval("1")')).toThrow('`$eval` is not available');
  });
});

describe('chance and time', () => {
  const draw = { a: '=$random()', b: ['=$random()', '=$shuffle([1..20])'], c: '=$now()' };
  const drawn = async (seed: string, now = 0): Promise<JsonValue> =>
    evaluateTemplate(compileTemplate(draw), bind({}), { now, random: seededRandom(seed) });

  it('are the same in a replay, though evaluations run side by side', async () => {
    const first = await drawn('run-1/charge#0');
    const [again, other] = await Promise.all([drawn('run-1/charge#0'), drawn('run-1/charge#1', 86_400_000)]);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(other).toMatchObject({ c: '1970-01-02T00:00:00.000Z' });
    expect(first).toMatchObject({ c: '1970-01-01T00:00:00.000Z' });
  });

  it('never changes: a run that was started by an older version must draw the same', () => {
    const random = seededRandom('run-1/charge#0');
    expect([random(), random(), random()].map((number) => number.toFixed(9))).toMatchInlineSnapshot(`
      [
        "0.577020626",
        "0.789155482",
        "0.000545682",
      ]
    `);
  });

  it('is evenly spread', () => {
    const random = seededRandom('spread');
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let draws = 0; draws < 10_000; draws++) {
      const tenth = Math.floor(random() * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(850);
    expect(tenths.length).toBe(10);
  });

  it('shuffles without losing anything', async () => {
    const { b } = (await drawn('any')) as { b: [number, number[]] };
    expect([...b[1]].sort((x, y) => x - y)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(b[1]).not.toEqual([...b[1]].sort((x, y) => x - y));
  });
});
