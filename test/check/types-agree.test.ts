import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtIn, builtInNames } from '../../src/expression/built-ins.js';
import { type JsonObject, type JsonValue } from '../../src/common/index.js';
import { FormulaError, compileFormula, evaluate, functionNames, inspectFormula } from '../../src/expression/index.js';
import { signatures } from '../../src/check/types/functions.js';
import { Inference, outermost } from '../../src/check/types/infer.js';
import { typeOfSchema } from '../../src/check/types/schema-type.js';
import { type Type, describeType, fieldOf } from '../../src/check/types/type.js';
import { compileSchema } from '../../src/definition/index.js';
import { bind, noon } from '../expression/surroundings.js';

const runs = { seed: 11, numRuns: Number(process.env.TYPE_RUNS ?? 800) };

/** Whether a type admits a value. */
function admits(type: Type, value: JsonValue | undefined): boolean {
  if (value === undefined) return type.absent;
  if (type.anything) return true;
  if (value === null) return type.null;
  switch (typeof value) {
    case 'boolean':
      return type.boolean;
    case 'number':
      return type.number === 'any' || type.number?.has(value) === true;
    case 'string':
      return type.string === 'any' || type.string?.has(value) === true;
    default:
  }
  if (Array.isArray(value)) {
    const { list } = type;
    return (
      list !== undefined &&
      value.length >= list.min &&
      value.length <= list.max &&
      value.every((item) => admits(list.items, item))
    );
  }
  const { map } = type;
  if (map === undefined) return false;
  const names = new Set([...Object.keys(value), ...map.fields.keys()]);
  return [...names].every((name) => admits(fieldOf(map, name), Object.hasOwn(value, name) ? value[name] : undefined));
}

const name = fc.constantFrom('a', 'b', 'c');

/** Schemas of few names, as authors write them. */
const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
      { enum: ['x', 'y', 1, null] },
      { const: 'x' },
      { type: ['string', 'null'] },
      {},
    ),
    fc
      .tuple(tie('schema'), fc.constantFrom({}, { minItems: 1 }, { minItems: 2 }, { maxItems: 1 }))
      .map(([items, bounds]) => ({ type: 'array', items, ...bounds })),
    fc
      .tuple(fc.dictionary(name, tie('schema'), { maxKeys: 3 }), fc.subarray(['a', 'b', 'c']), fc.boolean())
      .map(([properties, required, isClosed]) => ({
        type: 'object',
        properties: properties as JsonObject,
        required: required.filter((each) => Object.hasOwn(properties, each)),
        ...(isClosed && { additionalProperties: false }),
      })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({ anyOf: [one, other] })),
  ),
}));

/** Values that a schema of the above accepts. */
function valueOf(of: JsonObject): fc.Arbitrary<JsonValue> {
  if (Array.isArray(of.anyOf)) return fc.oneof(...of.anyOf.map((each) => valueOf(each as JsonObject)));
  if (Array.isArray(of.enum)) return fc.constantFrom(...of.enum);
  if ('const' in of) return fc.constant(of.const as JsonValue);
  if (Array.isArray(of.type)) return fc.constantFrom<JsonValue>('text', null);
  switch (of.type) {
    case 'string':
      return fc.constantFrom('', 'x', 'text', '2030-01-01T00:00:00Z', '12');
    case 'number':
      return fc.constantFrom(0, 1, -2.5, 7);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const min = typeof of.minItems === 'number' ? of.minItems : 0;
      const max = typeof of.maxItems === 'number' ? of.maxItems : 3;
      return fc.array(valueOf(of.items as JsonObject), { minLength: min, maxLength: max });
    }
    case 'object': {
      const properties = of.properties as Record<string, JsonObject>;
      const fields = Object.fromEntries(Object.entries(properties).map(([field, each]) => [field, valueOf(each)]));
      const required = of.required as string[];
      const others = of.additionalProperties === false ? fc.constant({}) : fc.constantFrom({}, { c: 1 }, { d: ['x'] });
      return fc
        .tuple(others, fc.record(fields, { requiredKeys: required }))
        .map(([other, own]) => ({ ...(Object.hasOwn(properties, 'c') ? {} : other), ...own }) as JsonObject);
    }
    default:
      return fc.constantFrom<JsonValue>(null, 1, 'x', [], [1, 'x'], { a: 1 }, [[{ a: [1, 2] }]]);
  }
}

const path = fc.array(name, { maxLength: 3 }).map((names) => ['$v', ...names].join('.'));
const operator = fc.constantFrom('=', '!=', '<', '>=', 'in', 'and', 'or', '&', '+', '-', '*', '??', '?:');

/** Formulas over `$v` and `$w`: what authors write, and more. */
const { formula } = fc.letrec<{ formula: string }>((tie) => {
  const inner = tie('formula');
  return {
    formula: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      path,
      path,
      path,
      fc.constantFrom('1', '"x"', 'true', 'null', '$w', '$w.a', '[]', '{}', '[1, 2]'),
      fc.tuple(inner, operator, inner).map(([left, each, right]) => `(${left} ${each} ${right})`),
      fc.tuple(inner, inner, inner).map(([test, a, b]) => `(${test} ? ${a} : ${b})`),
      fc.tuple(inner, inner).map(([test, a]) => `($exists(${test}) ? ${a})`),
      fc.tuple(inner, inner).map(([a, b]) => `{"a": ${a}, "b": ${b}}`),
      fc.tuple(inner, inner).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(path, inner).map(([list, test]) => `${list}[${test}]`),
      fc
        .tuple(inner, fc.constantFrom('0', '-1', '1', 'a', 'a = b', '$ = "x"', 'b > 0'))
        .map(([list, test]) => `${list}[${test}]`),
      fc
        .tuple(path, fc.constantFrom('a', 'a.b', '(a)', '{"a": b}', '[a]', '[a, b]', '(a & "x")', '$string(a)', '*'))
        .map(([list, each]) => `${list}.${each}`),
      fc
        .tuple(path, fc.constantFrom('[]', '[0][]', '[a][]', '^(a)', '^(>b)[0]', '{a: b}', '.a[]', '[0].a', '[a].b[0]'))
        .map(([list, end]) => list + end),
      fc.tuple(inner, name).map(([each, field]) => `(${each}).${field}`),
      fc
        .tuple(
          fc.constantFrom(
            ...[...functionNames].filter(
              (each) =>
                !['random', 'shuffle', 'now', 'millis', 'map', 'filter', 'reduce', 'single', 'sift', 'each'].includes(
                  each,
                ),
            ),
          ),
          fc.array(inner, { minLength: 1, maxLength: 2 }),
        )
        .map(([called, given]) => `$${called}(${given.join(', ')})`),
      fc
        .tuple(fc.constantFrom('map', 'filter', 'single'), inner, inner)
        .map(([called, list, each]) => `$${called}(${list}, function($w) { ${each} })`),
      fc.tuple(inner, inner).map(([list, each]) => `$reduce(${list}, function($w, $u) { ${each} })`),
      fc
        .tuple(inner, fc.constantFrom('$count', '$sum()', '$string', '$keys', '$map(function($w) { $w.a })'))
        .map(([left, right]) => `(${left} ~> ${right})`),
      fc.tuple(inner, inner).map(([bound, body]) => `($u := ${bound}; $w := $u; ${body})`),
      fc.tuple(inner, inner).map(([a, b]) => `$sort(${a}, function($l, $r) { $l.a > ${b} })`),
    ),
  };
});

function inferred(text: string, variables: Readonly<Record<string, Type>>): { type: Type; inference: Inference } {
  const inspected = inspectFormula(text);
  if (!inspected.ok) throw inspected.error;
  const world = {
    variable: (each: string): Type | undefined => variables[each],
    step: (): undefined => undefined,
  };
  const inference = new Inference(text, world, inspected);
  return { type: inference.infer(inspected.tree, outermost), inference };
}

const failed = Symbol('failed');

async function resultOf(text: string, values: JsonObject): Promise<JsonValue | undefined | typeof failed> {
  try {
    return await evaluate(compileFormula(text), bind(values), noon);
  } catch (error) {
    if (error instanceof FormulaError) return failed;
    throw error;
  }
}

describe('types and the evaluator agree', () => {
  test('a schema admits what its type admits', () => {
    fc.assert(
      fc.property(
        schema.chain((each) => fc.tuple(fc.constant(each), valueOf(each))),
        ([each, value]) => {
          expect(compileSchema(each)(value)).toEqual([]);
          expect(admits(typeOfSchema(each), value)).toBe(true);
        },
      ),
      runs,
    );
  });

  test('what a formula gives is of the type inferred for it', async () => {
    let valued = 0;
    await fc.assert(
      fc.asyncProperty(
        schema.chain((each) => fc.tuple(fc.constant(each), valueOf(each))),
        schema.chain((each) => fc.tuple(fc.constant(each), valueOf(each))),
        formula,
        async ([vSchema, v], [wSchema, w], text) => {
          if (!inspectFormula(text).ok) return;
          const { type } = inferred(text, { v: typeOfSchema(vSchema), w: typeOfSchema(wSchema) });
          const value = await resultOf(text, { v, w });
          if (value === failed) return;
          valued++;
          const shown = `${text} of ${JSON.stringify({ v, w })} is ${JSON.stringify(value)}, not ${describeType(type)}`;
          expect(admits(type, value), shown).toBe(true);
        },
      ),
      runs,
    );
    expect(valued).toBeGreaterThan(runs.numRuns / 4);
  });

  test('an operator or a call of which it is said that it cannot be right is never right', async () => {
    let told = 0;
    const single = fc.oneof(
      fc
        .tuple(path, operator, fc.oneof(path, fc.constantFrom('1', '"x"', '"z"', 'null', '$w')))
        .map((parts) => parts.join(' ')),
      fc
        .tuple(
          fc.constantFrom(
            ...Object.keys(signatures).filter((each) => !/map|filter|single|reduce|sift|each|random/.test(each)),
          ),
          fc.array(fc.oneof(path, fc.constantFrom('1', '"x"', '$w')), { maxLength: 3 }),
        )
        .map(([called, given]) => `$${called}(${given.join(', ')})`),
      path.map((each) => `-${each}`),
    );
    await fc.assert(
      fc.asyncProperty(
        schema.chain((each) => fc.tuple(fc.constant(each), valueOf(each))),
        schema.chain((each) => fc.tuple(fc.constant(each), valueOf(each))),
        single,
        async ([vSchema, v], [wSchema, w], text) => {
          const { inference } = inferred(text, { v: typeOfSchema(vSchema), w: typeOfSchema(wSchema) });
          const problem = inference.problems.find(({ severity }) => severity === 'error');
          if (problem === undefined) return;
          told++;
          const value = await resultOf(text, { v, w });
          const shown = `${text} of ${JSON.stringify({ v, w })} is ${String(JSON.stringify(value))}: ${problem.message}`;
          if (problem.code === 'RS3011' || problem.code === 'RS3012')
            expect([failed, text.includes('!=')], shown).toContain(value);
          else if (problem.code === 'RS3013') expect(value, shown).toBe(failed);
          // Without the item at hand, which there is none of here, there is no value.
          else if (problem.code === 'RS3015') expect([failed, undefined], shown).toContain(value);
        },
      ),
      runs,
    );
    expect(told).toBeGreaterThan(runs.numRuns / 50);
  });

  test('the parameters of functions are those of the library', () => {
    expect(Object.keys(signatures).sort()).toEqual([...functionNames]);
    for (const each of builtInNames) {
      if (!functionNames.has(each) || each === 'now' || each === 'millis') continue;
      const { definition } = builtIn(each).signature as { definition: string };
      expect(`<${signatures[each] ?? ''}>`, each).toBe(definition.replace(/:[^:<>]*(<[^>]*>)?>$/, '>'));
    }
  });
});
