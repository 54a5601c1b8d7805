import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { JsonValue } from '../../src/common/index.js';
import type { Handler, HandlerContext, Logger } from '../../src/handlers/index.js';
import {
  HandlerRegistry,
  NoEffectError,
  NonRetryableError,
  defineHandler,
  isNonRetryable,
  parseInput,
  parseOutput,
  silentLogger,
} from '../../src/handlers/index.js';

const charge = defineHandler({
  name: 'payments.charge',
  description: 'Takes the money.',
  input: z.object({ amount: z.number().positive(), currency: z.string().default('EUR') }),
  output: z.object({ paymentId: z.string(), at: z.string().optional() }),
  errors: ['CardDeclined'],
  run: ({ input }) => ({ paymentId: `${input.currency}-${input.amount}` }),
});

describe('types', () => {
  test('flow from the schemas into run', () => {
    defineHandler({
      name: 'a',
      input: z.object({ amount: z.number(), when: z.string().transform((text) => new Date(text)) }),
      output: z.object({ id: z.string(), note: z.string().default('') }),
      async run(ctx) {
        expectTypeOf(ctx.input).toEqualTypeOf<{ amount: number; when: Date }>();
        expectTypeOf(ctx.idempotencyKey).toEqualTypeOf<string>();
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(ctx.run.key).toEqualTypeOf<string | null>();
        return { id: 'x' };
      },
    });
  });

  test('without an input schema the input is any JSON, or nothing', () => {
    defineHandler({ name: 'a', run: (ctx) => void expectTypeOf(ctx.input).toEqualTypeOf<JsonValue | undefined>() });
  });

  test('run must return what the output schema takes', () => {
    // @ts-expect-error id is a text
    defineHandler({ name: 'a', output: z.object({ id: z.string() }), run: () => ({ id: 1 }) });
    // @ts-expect-error id is missing
    defineHandler({ name: 'a', output: z.object({ id: z.string() }), run: async () => ({}) });
  });

  test('a defined handler keeps them, and all fit into one list', () => {
    expectTypeOf(charge.run).parameter(0).toEqualTypeOf<HandlerContext<{ amount: number; currency: string }>>();
    expectTypeOf(charge.run).returns.resolves.toEqualTypeOf<{ paymentId: string }>();
    expectTypeOf([charge, defineHandler({ name: 'b', run: () => 1 })]).toExtend<Handler[]>();
  });

  test('a logger like pino fits', () => {
    type PinoMethod = {
      (fields: unknown, message?: string, ...rest: unknown[]): void;
      (message: string, ...rest: unknown[]): void;
    };
    type Pino = {
      level: string;
      debug: PinoMethod;
      info: PinoMethod;
      warn: PinoMethod;
      error: PinoMethod;
      fatal: PinoMethod;
    };
    expectTypeOf<Pino>().toExtend<Logger>();
    expectTypeOf<Console>().toExtend<Logger>();
    expect(silentLogger.info({ any: 1 }, 'thing')).toBeUndefined();
  });
});

describe('defineHandler', () => {
  test('refuses a malformed handler where it stands', () => {
    expect(() => defineHandler({ name: 'über', run: () => 1 })).toThrow(
      /handler name "über" is impossible; use letters/,
    );
    // @ts-expect-error JavaScript can forget it
    expect(() => defineHandler({ name: 'a' })).toThrow('handler "a" has no run function; add run(ctx) { … }');
    // @ts-expect-error a zod 3 schema has no `_zod`
    expect(() => defineHandler({ name: 'a', input: { _def: {}, safeParse() {} }, run: () => 1 })).toThrow(
      'input of handler "a" is a zod 3 schema; import z from zod 4',
    );
  });

  test('a handler cannot be changed afterwards', () => {
    expect(Object.isFrozen(charge)).toBe(true);
  });
});

describe('schemas', () => {
  test('input is parsed, defaults filled in, strangers dropped', () => {
    expect(parseInput(charge, { amount: 2, colour: 'red' })).toEqual({
      ok: true,
      value: { amount: 2, currency: 'EUR' },
    });
  });

  test('problems say where', () => {
    const list = defineHandler({
      name: 'a',
      input: z.object({ items: z.array(z.object({ qty: z.number() })) }),
      run: () => 1,
    });
    expect(parseInput(list, { items: [{ qty: 1 }, { qty: 'two' }] })).toEqual({
      ok: false,
      problems: [{ path: 'items[1].qty', message: 'Invalid input: expected number, received string' }],
    });
    expect(parseOutput(charge, null)).toMatchObject({ ok: false, problems: [{ path: '' }] });
  });

  test('without a schema anything passes', () => {
    expect(parseOutput(defineHandler({ name: 'a', run: () => 1 }), { any: 'thing' })).toEqual({
      ok: true,
      value: { any: 'thing' },
    });
  });

  test('a refinement that throws refuses the value, and so does one that would have to be waited for', () => {
    const throwing = z.string().transform((text): unknown => JSON.parse(text));
    expect(parseInput(defineHandler({ name: 'a', input: throwing, run: () => 1 }), '{')).toMatchObject({
      ok: false,
      problems: [{ path: '' }],
    });
    const waiting = z.string().refine(async () => true);
    expect(parseInput(defineHandler({ name: 'a', input: waiting, run: () => 1 }), 'x')).toEqual({
      ok: false,
      problems: [{ path: '', message: 'the schema is asynchronous; do what it waits for in run()' }],
    });
  });
});

describe('errors', () => {
  test('carry a name of their own, details and a cause', () => {
    const cause = new Error('402');
    const error = new NonRetryableError('declined', { name: 'CardDeclined', details: { reason: 'limit' }, cause });
    expect(error).toMatchObject({ name: 'CardDeclined', message: 'declined', details: { reason: 'limit' }, cause });
    expect(new NoEffectError('busy')).toMatchObject({ name: 'NoEffectError' });
    expect('details' in new NoEffectError('busy')).toBe(false);
  });

  test('anything may be thrown and asked about', () => {
    for (const thrown of [null, undefined, 'text', 3, {}, new Error('x')]) expect(isNonRetryable(thrown)).toBe(false);
  });
});

describe('registry', () => {
  const registry = new HandlerRegistry([charge, defineHandler({ name: 'constructor', run: () => 'own' })]);

  test('finds by name, members of every object included', async () => {
    expect(registry.names()).toEqual(['constructor', 'payments.charge']);
    expect(await registry.get('constructor').run({} as never)).toBe('own');
    expect(registry.has('toString')).toBe(false);
  });

  test('an unknown name is refused with the nearest, or with what there is', () => {
    expect(() => registry.get('payments.chrage')).toThrow(
      'there is no handler "payments.chrage"; did you mean "payments.charge"?',
    );
    expect(() => registry.get('toString')).toThrow(
      'there is no handler "toString"; add it to the handlers folder, or use one of: constructor, payments.charge',
    );
    expect(() => new HandlerRegistry().get('x')).toThrow('no handlers are registered at all');
  });

  test('two handlers of one name are refused, one given twice is not', () => {
    expect(() => new HandlerRegistry([charge, defineHandler({ name: 'payments.charge', run: () => 1 })])).toThrow(
      'handler "payments.charge" is registered twice; rename one of them',
    );
    expect(new HandlerRegistry([charge, charge]).names()).toEqual(['payments.charge']);
  });
});

describe('catalogue', () => {
  const catalogueOf = (input: z.ZodType, output?: z.ZodType) =>
    new HandlerRegistry([defineHandler({ name: 'a', input, ...(output && { output }), run: () => ({}) })])
      .catalogue()
      .get('a');

  test('gives JSON Schema, with what may be left out', () => {
    expect(new HandlerRegistry([charge]).catalogue().get('payments.charge')).toEqual({
      name: 'payments.charge',
      description: 'Takes the money.',
      input: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { amount: { type: 'number', exclusiveMinimum: 0 }, currency: { type: 'string', default: 'EUR' } },
        required: ['amount'],
      },
      output: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { paymentId: { type: 'string' }, at: { type: 'string' } },
        required: ['paymentId'],
        additionalProperties: false,
      },
      errors: ['CardDeclined'],
    });
  });

  test('a handler without schemas is known by name alone', () => {
    expect(new HandlerRegistry([defineHandler({ name: 'a', run: () => 1 })]).catalogue().get('a')).toEqual({
      name: 'a',
    });
  });

  test('what JSON Schema cannot say is anything, not nothing', () => {
    const loose = {
      day: z.date(),
      coerced: z.coerce.number().min(1),
      big: z.bigint(),
      prepared: z.preprocess((value) => value ?? 0, z.number()),
      replaced: z.number().catch(0),
    };
    const input = catalogueOf(z.object(loose))?.input;
    expect(input?.['properties']).toEqual({ day: {}, coerced: {}, big: {}, prepared: {}, replaced: {} });
    expect(input?.['required']).toEqual(['day', 'coerced', 'big']);
    expect(
      catalogueOf(
        z.string(),
        z.string().transform((text) => text.length),
      )?.output,
    ).not.toHaveProperty('type');
  });

  test('recursive schemas are references', () => {
    const tree: z.ZodType = z.lazy(() => z.object({ children: z.array(tree) }));
    expect(JSON.stringify(catalogueOf(z.object({ tree }))?.input)).toContain('$ref');
  });
});
