import fc from 'fast-check';
import jsonata from 'jsonata';
import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '../../src/common/index.js';
import { FormulaError, compileFormula, evaluate } from '../../src/expression/index.js';
import { giveUp } from '../../src/expression/plain-path.js';
import { bind, noon } from './surroundings.js';

const runs = { seed: 20260314, numRuns: 300 };

const names = ['a', 'b', 'length', 'x y'] as const;
const name = fc.constantFrom(...names);
const leaf = fc
  .oneof(fc.constantFrom<JsonValue>(null, true, false, '', 'text', 0, 1, -2.5, [], {}), fc.integer({ min: -3, max: 3 }))
  .map((value) => structuredClone(value));
/** Small data made of few names, so that paths meet something. */
const { data } = fc.letrec<{ data: JsonValue }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(name, tie('data'), { maxKeys: 3 }),
    fc.dictionary(name, tie('data'), { maxKeys: 3 }),
  ),
}));
const path = fc.array(name, { maxLength: 4 }).map((steps) => ['$v', ...steps.map((step) => `\`${step}\``)].join('.'));

/** Formulas over `$v` and `$w`, of all that is used every day. */
const { formula } = fc.letrec<{ formula: string }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    path,
    path,
    fc.constantFrom('1', '"text"', 'true', 'null', '$w', '[]', '{}'),
    fc
      .tuple(tie('formula'), tie('formula'))
      .chain(([left, right]) =>
        fc
          .constantFrom('=', '!=', '<', '>=', 'and', 'or', '&', '+', '-', '*', 'in', '??', '?:')
          .map((operator) => `(${left} ${operator} ${right})`),
      ),
    fc.tuple(tie('formula'), tie('formula'), tie('formula')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.tuple(tie('formula'), tie('formula')).map(([a, b]) => `{"k": ${a}, "l": ${b}}`),
    fc.tuple(tie('formula'), tie('formula')).map(([a, b]) => `[${a}, ${b}]`),
    fc
      .tuple(
        fc.constantFrom('exists', 'not', 'count', 'string', 'type', 'boolean', 'keys', 'distinct', 'spread'),
        tie('formula'),
      )
      .map(([called, argument]) => `$${called}(${argument})`),
    fc.tuple(path, tie('formula')).map(([list, test]) => `${list}[${test}]`),
    fc.tuple(path, tie('formula')).map(([list, each]) => `$map(${list}, function($w) { ${each} })`),
    path.map((list) => `${list}[]`),
    fc.tuple(path, tie('formula')).map(([list, each]) => `${list}{$type($): ${each}}`),
    fc.tuple(path, tie('formula')).map(([list, each]) => `${list}.{"k": ${each}}`),
  ),
}));

/** What plain JSONata says: the value as JSON, or that it fails. */
async function jsonataSays(text: string, values: JsonObject): Promise<JsonValue | undefined> {
  const value = (await jsonata(text).evaluate(undefined, structuredClone(values))) as JsonValue | undefined;
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as JsonValue);
}

const failed = Symbol('failed');
const orFailed = async <T>(value: () => T | Promise<T>): Promise<T | typeof failed> => {
  try {
    return await value();
  } catch {
    return failed;
  }
};

describe('for any data', () => {
  it('a plain path has the value that JSONata gives it', async () => {
    await fc.assert(
      fc.asyncProperty(path, data, async (text, v) => {
        expect(await evaluate(compileFormula(text), bind({ v }), noon)).toStrictEqual(await jsonataSays(text, { v }));
      }),
      { ...runs, numRuns: 1000 },
    );
  });

  it('a formula has the value that JSONata gives it, or fails', async () => {
    let valued = 0;
    await fc.assert(
      fc.asyncProperty(formula, data, leaf, async (text, v, w) => {
        const ours = await orFailed(() => evaluate(compileFormula(text), bind({ v, w }), noon));
        if (ours === failed) return;
        valued++;
        expect(ours).toStrictEqual(await orFailed(() => jsonataSays(text, { v, w })));
      }),
      { ...runs, numRuns: 1500 },
    );
    expect(valued).toBeGreaterThan(500);
  });

  it('a formula that JSONata cannot evaluate has no value here either', async () => {
    await fc.assert(
      fc.asyncProperty(formula, data, leaf, async (text, v, w) => {
        const theirs = await orFailed(() => jsonataSays(text, { v, w }));
        if (theirs !== failed) return;
        expect(await orFailed(() => evaluate(compileFormula(text), bind({ v, w }), noon))).toBe(failed);
      }),
      runs,
    );
  });

  it('the direct way and JSONata agree, on values and on failures', async () => {
    const outcome = (text: string, v: JsonValue, w: JsonValue): Promise<unknown> =>
      Promise.resolve()
        .then(() => evaluate(compileFormula(text), bind({ v, w }), noon))
        .catch((error: unknown) => (error instanceof FormulaError ? error.detail : error));
    let direct = 0;
    await fc.assert(
      fc.asyncProperty(formula, data, leaf, async (text, v, w) => {
        const { direct: way } = compileFormula(text).program;
        if (!way || way(bind({ v, w })) === giveUp) return;
        direct++;
        // A block of two is beyond the direct way.
        expect(await outcome(text, v, w)).toStrictEqual(await outcome(`(0; ${text})`, v, w));
      }),
      { ...runs, numRuns: 3000 },
    );
    expect(direct).toBeGreaterThan(500);
  });

  it('evaluation changes nothing that it is given, frozen or not, and shares nothing with it', async () => {
    const writing = fc.oneof(
      formula,
      path.map((text) => `${text}[]`),
      path.map((text) => `${text} ~> |$|{"a": 1}, "b"|`),
      path.map((text) => `$sort(${text}[])`),
      path.map((text) => `${text}{"k": 1}`),
      path.map((text) => `${text}[{"k": 1}.k = 1]`),
      path.map((text) => `${text}.({"k": 1})`),
      path.map((text) => `${text}()`),
      path.map((text) => `($f := ${text}; $f(1))`),
    );
    await fc.assert(
      fc.asyncProperty(writing, data, async (text, example) => {
        const v = structuredClone(example);
        const before = JSON.stringify(v);
        const frozen = deepFreeze(structuredClone(v));
        const loose = await orFailed(() => evaluate(compileFormula(text), bind({ v, w: 1 }), noon));
        // With what JSON does not show: flags on lists.
        expect(v).toStrictEqual(JSON.parse(before));
        const tight = await orFailed(() => evaluate(compileFormula(text), bind({ v: frozen, w: 1 }), noon));
        expect(tight).toStrictEqual(loose);
        if (loose === failed || loose === undefined) return;
        scribble(loose);
        expect(JSON.stringify(v)).toBe(before);
      }),
      { ...runs, numRuns: 800 },
    );
  });

  it('a result is plain JSON', async () => {
    await fc.assert(
      fc.asyncProperty(formula, data, async (text, v) => {
        const value = await orFailed(() => evaluate(compileFormula(text), bind({ v, w: 1 }), noon));
        if (value === failed || value === undefined) return;
        expect(structuredClone(value)).toStrictEqual(value);
        expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
      }),
      runs,
    );
  });
});

describe('functions that are our own give what JSONata gives', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 4 }), { maxLength: 6 });
  const numbers = fc.array(fc.integer({ min: -4, max: 4 }), { maxLength: 8 });
  it.each([
    [
      '$pad($x, $n, $y)',
      fc.record({
        x: fc.string({ unit: 'grapheme' }),
        n: fc.integer({ min: -9, max: 9 }),
        y: fc.string({ maxLength: 3 }),
      }),
    ],
    ['$join($x, $y)', fc.record({ x: texts, y: fc.string({ maxLength: 2 }) })],
    ['$join($x)', fc.record({ x: texts })],
    ['$string($x, true)', fc.record({ x: data })],
    ['$max($x)', fc.record({ x: numbers })],
    ['$min($x)', fc.record({ x: numbers })],
    ['$sort($x)', fc.record({ x: fc.oneof(numbers, texts, fc.array(data, { maxLength: 3 })) })],
    [
      '$sort($x, function($a, $b) { $a.k > $b.k })',
      fc.record({ x: fc.array(fc.record({ k: fc.integer({ min: 0, max: 3 }), v: fc.nat() })) }),
    ],
    ['$distinct($x)', fc.record({ x: fc.array(data) })],
    ['$spread($x)', fc.record({ x: data })],
    [
      '$toMillis($x)',
      fc.record({
        x: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
      }),
    ],
  ] as [string, fc.Arbitrary<JsonObject>][])('%s', async (text, values) => {
    await fc.assert(
      fc.asyncProperty(values, async (bound) => {
        const ours = await orFailed(() => evaluate(compileFormula(text), bind(bound), noon));
        expect(ours).toStrictEqual(await orFailed(() => jsonataSays(text, bound)));
      }),
      { ...runs, numRuns: 150 },
    );
  });
});

function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Changes everything inside a value. */
function scribble(value: JsonValue): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(scribble);
  if (Array.isArray(value)) value.push('scribbled');
  else value['scribbled'] = true;
}
