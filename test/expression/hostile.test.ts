import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { JsonObject } from '../../src/common/index.js';
import { FormulaError, FormulaSyntaxError, compileFormula, evaluate } from '../../src/expression/index.js';
import { bind, noon, valueOf } from './surroundings.js';

const many = Array.from({ length: 30_000 }, (_, index) => (index * 7919) % 30_000);
const nestedLists = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as JsonObject[];
const big = bind({ many, nestedLists, as: 'a'.repeat(100_000), long: 'x'.repeat(1_000_001), big: { list: many } });

async function failureOf(formula: string): Promise<FormulaError> {
  const error: unknown = await valueOf(formula, big).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(FormulaError);
  return error as FormulaError;
}

describe('a formula cannot hang the process or fill its memory', () => {
  const doubling = (step: string, rounds: number): string =>
    `($d := function($x, $n) { $n = 0 ? $x : $d(${step}, $n - 1) }; $d(1, ${rounds}))`;

  it.each([
    // Time
    ['a tail recursion without end', '($f := function($n) { $f($n + 1) }; $f(1))', 'more than one second'],
    ['a loop over much', '$count($map([1..900000], function($x) { $x * 2 }))', 'more than one second'],
    ['a built-in as a callback', '$reduce([1..900000], $append)', 'more than one second|too large'],
    // Depth
    ['a recursion without end', '($f := function($n) { 1 + $f($n + 1) }; $f(1))', 'more than 500 deep'],
    ['a recursion through lists', '($f := function($n) { [1, $f($n + 1)] }; $f(1))', 'more than 500 deep'],
    ['a recursion through objects', '($f := function($n) { {"a": 1, "b": $f($n + 1)} }; $f(1))', 'more than 500 deep'],
    ['a recursion through map', '($f := function($n) { $map([1, 2], $f) }; $f(1))', 'more than 500 deep'],
    // Length
    ['a padding', '$pad("x", 4e8)', 'longer than'],
    ['a padding to the left, with long filling', '$pad("x", -4e8, "0123456789")', 'longer than'],
    ['a padding from a partial call', '$pad(?, 400000000)("x")', 'longer than'],
    ['a range', '[1..1e9]', 'longer than'],
    ['a join', '$join($map([1..20], function() { $pad("x", 100000) }))', 'longer than'],
    ['a replacement', '$replace($as, "a", $pad("x", 100000))', 'longer than|too large'],
    ['a replacement with a regular expression', '$replace($as, /a/, $pad("x", 100000))', 'longer than|too large'],
    ['a text that doubles', '($d := function($x) { $d($x & $x) }; $d("x"))', 'longer than'],
    ['a list that doubles', '($d := function($x) { $d($append($x, $x)) }; $d([1, 2]))', 'longer than'],
    ['lists in a list', '$string([1..50].[[1..1000000]])', 'longer than|too large|more than one second'],
    ['a text that is handed in', '$long & ""', 'longer than'],
    // Values that hold themselves over and over
    ['a comparison', `${doubling('[[$x], [$x]]', 60)} = 1`, 'too large'],
    ['a text of it', `$string(${doubling('{"a": $x, "b": $x}', 60)})`, 'too large'],
    ['a field in it', `${doubling('[[$x], [$x]]', 60)}.name`, 'too large'],
    ['all of it', `$count(${doubling('{"a": [$x, $x]}', 60)}.**)`, 'too large'],
    ['the result', doubling('[[$x], [$x]]', 60), 'too large'],
    ['an error message', `-${doubling('[[$x], [$x]]', 60)}`, 'too large'],
    ['itself, by a transform', '{"a": {}} ~> |$|{"self": $}| ~> $string', 'too large|circular'],
    // Depth of data
    ['deep data', '$nestedLists[]', 'nested'],
    [
      'deep data made here',
      '($d := function($x, $n) { $n = 0 ? $x : $d([[$x]], $n - 1) }; $d(1, 1100))',
      'nested more than 1000 deep',
    ],
    [
      'the text of deep data, indented',
      '($d := function($x, $n) { $n = 0 ? $x : $d([[$x]], $n - 1) }; $string($d(1, 900), true))',
      'longer than',
    ],
    // Regular expressions and pictures
    [
      'dates that can be read in many ways',
      `$toMillis("${'1'.repeat(60)}x", "${'[Y][M][D][H][m][s]'.repeat(3)}")`,
      'too many ways',
    ],
  ])('%s', async (_, formula, message) => {
    expect((await failureOf(formula)).message).toMatch(new RegExp(message));
  });

  it.each([
    ['a built-in function as a callback', '$count($map([1..300000], $string))'],
    ['a text of deep data', '$length($string($nestedLists))'],
    ['an order by', '$count([1..5000]^(-$))'],
    ['the values of many lists', '$count($many.*)'],
  ])('%s ends, with or without a value', async (_, formula) => {
    await valueOf(formula, big).catch((error: unknown) => expect(error).toBeInstanceOf(FormulaError));
  });

  it.each([
    ['a backtracking expression', '$contains($as & "b", /^(a+)+$/)', false],
    ['another', '$contains($as, /(a|aa)+$/)', true],
    ['many matches', '$count($match($substring($as, 0, 20000), /a/))', 20_000],
    ['sorting', '$sort($many)[0]', 0],
    ['the distinct ones', '$count($distinct($append($many, $many)))', 30_000],
    ['the largest', '$max($many)', 29_999],
    ['the smallest', '$min($many)', 0],
    [
      '600 calls side by side',
      `($f := function($n) { $n }; $count([${Array.from({ length: 600 }, (_, n) => `$f(${n})`).join(', ')}]))`,
      600,
    ],
    ['600 groups', '($f := function($n) { $n }; $count($keys([1..600]{$string($): $f($)})))', 600],
    ['tail calls, 2,000 in a row', '($f := function($n) { $n = 0 ? "end" : $f($n - 1) }; $f(2000))', 'end'],
  ])('%s is no trouble', async (_, formula, expected) => {
    expect(await valueOf(formula, big)).toBe(expected);
  });

  it.each([
    ['brackets', '('.repeat(100_000)],
    ['closed brackets', `${'('.repeat(50_000)}1${')'.repeat(50_000)}`],
    ['a long sum', `1${' + 1'.repeat(100_000)}`],
    ['defaults in defaults', `${'('.repeat(60)}$a${' ?? 1)'.repeat(60)}`],
    ['a long regular expression', `$contains("a", /${'(a{1,100}){1,100}'.repeat(100)}/)`],
  ])('compiling: %s', (_, formula) => {
    expect(() => compileFormula(formula)).toThrow(FormulaSyntaxError);
  });

  it.each([
    ['one evaluates', ['($f := function($n) { $n = 0 ? 0 : $f($n - 1) }; $f(15000))']],
    ['very many short ones wait for their turn', Array<string>(1500).fill('$sum($map([1..20], function($n) { $n }))')],
  ])('lets the event loop run while %s', async (_, formulas) => {
    let rounds = 0;
    let over = false;
    const watch = (): void => {
      rounds++;
      if (!over) setImmediate(watch);
    };
    setImmediate(watch);
    await Promise.all(formulas.map((formula) => valueOf(formula, big)));
    over = true;
    expect(rounds).toBeGreaterThan(3);
  });

  it('counts for each evaluation only the time that it takes itself', async () => {
    // Together they take more than a second, each by itself much less.
    const formula = compileFormula('($f := function($n) { $n = 0 ? "end" : $f($n - 1) }; $f($n))');
    const values = await Promise.all(Array.from({ length: 40 }, () => evaluate(formula, bind({ n: 2000 }), noon)));
    expect(values).toEqual(Array.from({ length: 40 }, () => 'end'));
  });

  it('counts what the processor has done for it, not how long the process had to wait for that', async () => {
    const readTime = performance.now.bind(performance);
    const time = vi.spyOn(performance, 'now');
    onTestFinished(() => time.mockRestore());
    // After a few looks the process was stopped for a minute.
    let looks = 0;
    time.mockImplementation(() => readTime() + ((looks += 1) < 5 ? 0 : 60_000));
    expect(await valueOf('($f := function($n) { $n = 0 ? "end" : $f($n - 1) }; $f(2000))', big)).toBe('end');
    expect(looks).toBeGreaterThan(5);
  });

  it('goes on after a failure', async () => {
    await failureOf('[1, 1 + $nothing, 3]');
    await failureOf('{"a": $nothing, "b": $random()}');
    expect(await valueOf('1 + 1', big)).toBe(2);
  });
});
