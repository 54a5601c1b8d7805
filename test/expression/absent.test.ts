import { describe, expect, it } from 'vitest';

import { FormulaError, compileFormula, evaluate } from '../../src/expression/index.js';
import { bind, valueOf } from './surroundings.js';

/** `$steps.decision` is there and has no `approved`; `$steps.later` was not reached. */
const absent = '$steps.decision.approved';

describe('an absent operand is an error', () => {
  it.each([
    [`${absent} = false`, 'the left side of `=`'],
    [`false != ${absent}`, 'the right side of `!=`'],
    [`${absent} < 1`, 'the left side of `<`'],
    [`1 <= ${absent}`, 'the right side of `<=`'],
    [`${absent} > 1`, 'the left side of `>`'],
    [`1 >= ${absent}`, 'the right side of `>=`'],
    [`${absent} in ["a"]`, 'the left side of `in`'],
    [`"a" in ${absent}`, 'the right side of `in`'],
    [`${absent} and true`, 'the left side of `and`'],
    [`true and ${absent}`, 'the right side of `and`'],
    [`false or ${absent}`, 'the right side of `or`'],
    [`$not(${absent})`, 'the argument of `$not`'],
    [`${absent} ~> $not()`, 'the argument of `$not`'],
    [`${absent} ~> $not`, 'the argument of `$not`'],
    [`"by " & ${absent}`, 'the right side of `&`'],
    [`${absent} + 1`, 'the left side of `+`'],
    [`1 - ${absent}`, 'the right side of `-`'],
    [`2 * ${absent}`, 'the right side of `*`'],
    [`2 / ${absent}`, 'the right side of `/`'],
    [`2 % ${absent}`, 'the right side of `%`'],
    [`-${absent}`, 'what `-` is applied to'],
    [`[1..${absent}]`, 'the right side of `..`'],
    [`${absent} ? 1 : 2`, 'the condition of `? :`'],
    [`{"by": ${absent}}`, 'the value of `by`'],
    [`{${absent}: 1}`, 'a key of `{…}`'],
    [`$map([1], function($x) { $x + ${absent} })`, 'the right side of `+`'],
    [`(${absent} > 1) ?? false`, 'the left side of `>`'],
    [`$count([1]) + $count(${absent} + 1)`, 'the left side of `+`'],
    [`($input.items[qty > 9].sku) = "tea"`, 'the left side of `=`'],
    [`$reduce([], function($a, $b) { $a }) & ""`, 'the left side of `&`'],
  ])('%s', async (formula, role) => {
    const error = (await valueOf(formula).catch((caught: unknown) => caught)) as FormulaError;
    expect(error).toBeInstanceOf(FormulaError);
    expect(error).toMatchObject({ name: 'ExpressionError', reason: 'absent', formula });
    expect(error.message).toContain(`absent, but ${role} must have a value`);
  });

  it('names the operand, its place and the ways out', async () => {
    const formula = '$input.express and $steps.decision.approved = false';
    const error = (await valueOf(formula).catch((caught: unknown) => caught)) as FormulaError;
    expect(formula.slice(error.start, error.end)).toBe('$steps.decision.approved');
    expect(error.message).toBe(
      '`$steps.decision.approved` is absent, but the left side of `=` must have a value; ' +
        'ask `$exists($steps.decision.approved)` first, or give a default: `$steps.decision.approved ?? …`, ' +
        'in the formula `$input.express and $steps.decision.approved = false`',
    );
  });

  it.each([
    ['1 + $number($input.items[sku = "x"].qty)', '$number($input.items[sku = "x"].qty)'],
    ['1 + $lookup($input, "no(thing)")', '$lookup($input, "no(thing)")'],
    ['($input.nope) & "."', '($input.nope)'],
    ['{"k": $input.items[9]}', '$input.items[9]'],
  ])('finds the whole operand of %s', async (formula, operand) => {
    const error = (await valueOf(formula).catch((caught: unknown) => caught)) as FormulaError;
    expect(formula.slice(error.start, error.end)).toBe(operand);
  });
});

describe('it is none', () => {
  it.each([
    // where it is guarded
    [`$exists(${absent}) and ${absent} > 1`, false],
    [`$not($exists(${absent})) or ${absent} > 1`, true],
    [`${absent} ?? false`, false],
    [`${absent} ?: "nobody"`, 'nobody'],
    [`(${absent} ?? 0) + 1`, 1],
    [`$steps.later.x ?? ${absent} ?? "third"`, 'third'],
    [`"Hello " & (${absent} ?? "you")`, 'Hello you'],
    [`${absent} ?? {"by": "nobody"}`, { by: 'nobody' }],
    [`false and ${absent}`, false],
    [`true or ${absent}`, true],
    [`true ? 1 : ${absent} + 1`, 1],
    // null is a value
    ['$steps.nothing ?? "none"', null],
    ['$steps.nothing = null', true],
    // and inside predicates, later steps, sort terms and groupings, where not every item has every field
    ['$count($input.items[discount > 1])', 0],
    ['$input.items[discount = 1 or qty = 2].sku', 'tea'],
    ['$input.items.(discount + 1)', undefined],
    ['$input.items.{"sku": sku, "discount": discount}', [{ sku: 'tea' }, { sku: 'cup' }]],
    ['$input.items^(discount, -qty).sku', ['tea', 'cup']],
    ['$input.items{sku: discount}', {}],
  ])('%s', async (formula, expected) => {
    expect(await valueOf(formula)).toStrictEqual(expected);
  });
});

describe('a default', () => {
  it.each([
    // What JSONata's own parser gets wrong: it copies the left side through JSON.
    ['$match("a1", /[0-9]/).match ?? "none"', '1'],
    ['$contains("abc", /b/) ?: "no"', true],
    ['($f := function($n) { $n > 3 ? $n : $f($n + 1) ?? 0 }; $f(1))', 4],
    ['[1, 2] ?? 3', [1, 2]],
    ['[$input.items.(price ?? 0)]', [3.5, 8]],
    ['$input.items{sku: discount ?? qty}', { tea: 2, cup: 1 }],
    ['{"a": $input.x ?? 1, "b": $input.y ?? 2, "c": $input.total ?? 3}', { a: 1, b: 2, c: 15 }],
    ['0 ?: 5', 5],
    ['"" ?? 5', ''],
  ])('%s', async (formula, expected) => {
    expect(await valueOf(formula)).toStrictEqual(expected);
  });

  it('evaluates its left side once', async () => {
    let draws = 0;
    const surroundings = { now: 0, random: () => ++draws / 100 };
    expect(await evaluate(compileFormula('($random() ?? 1) ?? 2'), bind({}), surroundings)).toBe(0.01);
    expect(draws).toBe(1);
  });

  it('may stand in the left side of another, eight deep', async () => {
    let nested = '$input.nope';
    for (let depth = 0; depth < 8; depth++) nested = `(${nested} ?? $input.nope)`;
    expect(await valueOf(`${nested} ?? "end"`)).toBe('end');
  });

  it('may be one of many in a row', async () => {
    expect(await valueOf(`${'$input.nope ?? '.repeat(200)}"end"`)).toBe('end');
  });
});

describe('other failures', () => {
  it.each([
    [
      '$input.orderId + 1',
      'type',
      'the left side of `+` must be a number, but is text "A-17" (texts are joined with `&`)',
    ],
    ['1 * $input.customer', 'type', 'the right side of `*` must be a number, but is an object'],
    [
      '$input.total > "10"',
      'type',
      '`>` compares numbers with numbers or texts with texts, not the number 15 with text "10"',
    ],
    ['$input.customer > 1', 'type', '`>` compares numbers or texts only, not an object'],
    ['-$input.orderId', 'type', '`-` needs a number, but is given text "A-17"'],
    ['{$input.total: 1}', 'type', 'a key of `{…}` must be text, but is the number 15'],
    ['$uppercase(5)', 'type', '`$uppercase` cannot take the number 5 as its argument 1'],
    ['$number("many")', 'type', '`$number` cannot make a number of text "many"'],
    ['$nope(1)', 'failed', '`$nope` is no function'],
    ['$input(1)', 'failed', '`$input` is no function'],
    ['count($input.items)', 'failed', 'functions begin with `$`: `$count(…)`'],
    ['$error("No stock")', 'failed', 'No stock'],
    ['$assert(1 = 2, "Sums differ")', 'failed', 'Sums differ'],
    ['1 / 0', 'not-json', 'the result is not a finite number'],
    ['{"a": [1, 9007199254740991 + 2]}', 'not-json', '`a[1]` of the result is a whole number beyond ±2^53'],
    ['$sum', 'not-json', 'the result is a function, not a value'],
    ['{"f": function($x) { $x }}', 'not-json', '`f` of the result is a function'],
    ['{"__proto__": 1}', 'not-json', 'the key `__proto__`, which is not allowed'],
    ['$merge([{"__proto__": {"a": 1}}])', 'not-json', 'the key `__proto__`'],
    ['[1]{"__proto__": $}', 'not-json', 'the key `__proto__`'],
    ['$power(10, 400)', 'failed', 'cannot be represented'],
    ['$addDuration("yesterday", "1d")', 'failed', 'yesterday'],
    ['$addDuration("2026-03-14T12:00:00", "1d")', 'failed', 'the time "2026-03-14T12:00:00" has no offset'],
    ['$toMillis("2026-03-14T12:00:00")', 'failed', 'has no offset; write `Z` (UTC) or `+01:00` after it'],
    ['$addDuration($now(), "5")', 'failed', 'the duration of `$addDuration`'],
    ['$addDuration($now(), 5)', 'type', '`$addDuration` cannot take the number 5 as its argument 2'],
  ])('%s', async (formula, reason, message) => {
    const error = (await valueOf(formula).catch((caught: unknown) => caught)) as FormulaError;
    expect(error).toBeInstanceOf(FormulaError);
    expect(error.message).toContain(message);
    expect(error).toMatchObject({ reason, formula });
  });
});
