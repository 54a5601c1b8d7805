import { describe, expect, it } from 'vitest';

import { FormulaError, compileFormula, evaluate } from '../../src/expression/index.js';
import { bind, conditionOf, done, listOf, noon, order, valueOf } from './surroundings.js';

describe('a formula', () => {
  it.each([
    // Paths
    ['$input.orderId', 'A-17'],
    ['=$input.orderId', 'A-17'],
    [' = $input.customer.email ', 'ann@example.test'],
    ['$input.customer', { id: 'c1', email: 'ann@example.test', phone: null }],
    ['$input.customer.phone', null],
    ['$input.customer.phone.area', undefined],
    ['$input.missing.too', undefined],
    ['$unheard', undefined],
    ['$steps.reserve.reservationId', 'r-9'],
    ['$steps.later', undefined],
    ['$steps.`reserve`.reservationId', 'r-9'],
    ['$steps', { reserve: { reservationId: 'r-9' }, decision: {}, nothing: null }],
    // Literals
    ['"=text"', '=text'],
    ['-12.5', -12.5],
    ['null', null],
    ['true', true],
    // Lists: JSONata maps over them and collapses what it finds
    ['$input.items.sku', ['tea', 'cup']],
    ['$input.items[0].sku', 'tea'],
    ['$input.items[qty > 1].sku', 'tea'],
    ['[$input.items[qty > 1].sku]', ['tea']],
    ['$input.items[qty > 1].sku[]', ['tea']],
    ['$input.items[qty > 9].sku', undefined],
    ['$input.items^(>price).sku', ['cup', 'tea']],
    ['$input.items{sku: qty}', { tea: 2, cup: 1 }],
    [
      '$input.items.{"s": sku, "line": qty * price}',
      [
        { s: 'tea', line: 7 },
        { s: 'cup', line: 8 },
      ],
    ],
    [
      '$input.items@$line#$n.{"sku": $line.sku, "n": $n}',
      [
        { sku: 'tea', n: 0 },
        { sku: 'cup', n: 1 },
      ],
    ],
    ['$input.tags', []],
    ['[1..4]', [1, 2, 3, 4]],
    ['[[1], [2, 3]]', [[1], [2, 3]]],
    ['[]', []],
    // Operators
    ['"Hello " & $input.customer.id', 'Hello c1'],
    ['$input.total * 2 - 1', 29],
    ['$input.total > $constants.approvalLimit and $input.express', true],
    ['"tea" in $input.items.sku', true],
    ['$input.total > 10 ? "big" : "small"', 'big'],
    ['$input.items = $input.items', true],
    // Functions and lambdas
    ['$sum($input.items.(qty * price))', 15],
    ['$count($steps.later)', 0],
    ['$map($input.items, function($line) { $line.sku & "!" })', ['tea!', 'cup!']],
    ['$input.items ~> $filter(function($line) { $line.qty = 1 }) ~> $count', 1],
    ['($double := function($n) { $n * 2 }; $double($double(5)))', 20],
    ['($fact := function($n) { $n < 2 ? 1 : $n * $fact($n - 1) }; $fact(10))', 3628800],
    ['$reduce([1..5], function($sum, $n) { $sum + $n })', 15],
    ['$pad(?, 5, "-")("x")', 'x----'],
    ['$sort(["b", "a", "c"])', ['a', 'b', 'c']],
    ['$sort($input.items, function($a, $b) { $a.price < $b.price }).sku', ['cup', 'tea']],
    ['$input.customer ~> |$|{"email": "hidden"}, ["phone"]|', { id: 'c1', email: 'hidden' }],
    ['$replace("2026-03-14", /(\\d+)-(\\d+)-(\\d+)/, "$3.$2.$1")', '14.03.2026'],
    ['$match("a1b22", /[0-9]+/).match', ['1', '22']],
    ['$split("a, b;c", /[,;] */)', ['a', 'b', 'c']],
    ['$contains("ORDER-7", /^order/i)', true],
    // Time
    ['$now()', '2026-03-14T12:00:00.000Z'],
    ['$now("[D01].[M01].[Y0001]")', '14.03.2026'],
    ['$millis()', Date.UTC(2026, 2, 14, 12)],
    ['$addDuration($now(), "-3d")', '2026-03-11T12:00:00.000Z'],
    ['$addDuration("2026-01-31T10:00:00+02:00", "1h30m")', '2026-01-31T09:30:00.000Z'],
    ['$addDuration($millis(), "PT90S")', '2026-03-14T12:01:30.000Z'],
    ['$addDuration($unheard, "1d")', undefined],
    ['$toMillis("2026-03-14")', Date.UTC(2026, 2, 14)],
    ['$toMillis("10:30", "[H01]:[m01]")', Date.UTC(2026, 2, 14, 10, 30)],
    ['$toMillis("14032026", "[D01][M01][Y0001]")', Date.UTC(2026, 2, 14)],
  ])('%s', async (formula, expected) => {
    expect(await valueOf(formula)).toStrictEqual(expected);
  });

  it('knows what it reads', () => {
    const { text, variables, steps } = compileFormula(
      '= ($own := $input.a; $map($steps.pack, function($x) { $x + $own + $steps.count.n + $limit }))',
    );
    expect(text.startsWith('($own')).toBe(true);
    expect([...variables].sort()).toEqual(['input', 'limit']);
    expect(steps).toEqual(new Set(['pack', 'count']));
    expect(compileFormula('$lookup($steps, $item)').steps).toBe('all');
    expect(compileFormula('$steps[0].x').steps).toBe('all');
    expect(compileFormula('$map($input.names, $uppercase)').variables).toEqual(new Set(['input']));
  });

  it('is asked for nothing that it does not name', async () => {
    const asked: string[] = [];
    const bindings = {
      variable: (name: string) => (asked.push(name), 1),
      step: (id: string) => (asked.push(`steps.${id}`), 1),
      stepIds: () => (asked.push('ids'), []),
    };
    expect(await evaluate(compileFormula('$a + $steps.b + 1'), bindings, noon)).toBe(3);
    expect(asked.sort()).toEqual(['a', 'steps.b']);
  });

  it('is compiled once', () => {
    expect(compileFormula('=$input.total > 1')).toBe(compileFormula(' $input.total > 1 '));
  });

  it('gives plain paths and literals at once, anything with a list in it as a promise', () => {
    const bindings = bind(order, done);
    expect(evaluate(compileFormula('$input.customer.email'), bindings, noon)).toBe('ann@example.test');
    expect(evaluate(compileFormula('$steps.reserve.reservationId'), bindings, noon)).toBe('r-9');
    expect(evaluate(compileFormula('$input.items'), bindings, noon)).toStrictEqual(
      (order['input'] as { items: unknown }).items,
    );
    expect(evaluate(compileFormula('false'), bindings, noon)).toBe(false);
    expect(evaluate(compileFormula('$input.items.sku'), bindings, noon)).toBeInstanceOf(Promise);
  });
});

describe('a condition', () => {
  it('is true or false', async () => {
    expect(await conditionOf('$input.total > 10')).toBe(true);
    expect(await conditionOf('$input.express')).toBe(true);
    expect(await conditionOf('$exists($steps.later)')).toBe(false);
    expect(await conditionOf('$steps.later.ok ?? false')).toBe(false);
  });

  it.each([
    ['$input.orderId', 'a condition must be true or false, but this one is text "A-17"; compare it'],
    ['$input.total', 'is the number 15; compare it, as in `$input.total > 0`'],
    ['$input.items', 'is a list of 2; ask for its length, as in `$count($input.items) > 0`'],
    ['$input.customer', 'is an object'],
    ['$input.customer.phone', 'is null'],
    ['$steps.later.ok', 'is absent; ask `$exists($steps.later.ok)`'],
    ['"false"', 'is text "false"'],
  ])('%s', async (formula, message) => {
    await expect(conditionOf(formula)).rejects.toThrow(message);
    await expect(conditionOf(formula)).rejects.toMatchObject({ name: 'ExpressionError', formula });
  });
});

describe('the list of a forEach', () => {
  it.each([
    ['$input.items.sku', ['tea', 'cup']],
    ['$input.tags', []],
    ['$input.items[qty > 1].sku', ['tea']],
    ['$input.items[qty > 9]', []],
    // A path that meets a list on the way is collapsed by JSONata, hence taken as it comes.
    ['$oneLine.lines.sku', ['tea']],
    ['$oneLine.lines.missing', []],
    ['$filter($input.items, function($line) { $line.qty = 1 }).sku', ['cup']],
    ['[1..3]', [1, 2, 3]],
    ['$steps.later ?? []', []],
  ])('%s', async (formula, expected) => {
    expect(await listOf(formula, bind({ ...order, oneLine: { lines: [{ sku: 'tea' }] } }, done))).toStrictEqual(
      expected,
    );
  });

  it.each([
    [
      '$input.customer',
      'needs a list, but this is an object; to treat one value as a list of one, write `[$input.customer]`',
    ],
    ['$input.missing', 'needs a list, but this is absent; if it may be missing, write `$input.missing ?? []`'],
    ['$input.customer.phone', 'needs a list, but this is null'],
  ])('%s', async (formula, message) => {
    await expect(listOf(formula)).rejects.toThrow(message);
    await expect(listOf(formula)).rejects.toBeInstanceOf(FormulaError);
  });
});

describe('$result', () => {
  const unknown = bind({ result: null });
  it('gives null for paths into a result that is null', async () => {
    expect(await valueOf('$result', unknown)).toBe(null);
    expect(await valueOf('$result.reservation.id', unknown)).toBe(null);
    expect(await valueOf('$result.items[0].id', unknown)).toBe(null);
    expect(await valueOf('$result.id ?? "none"', unknown)).toBe(null);
    expect(await valueOf('{"id": $result.id}', unknown)).toEqual({ id: null });
    expect(await valueOf('$result.id = null', unknown)).toBe(true);
  });

  it('is an ordinary value otherwise', async () => {
    expect(await valueOf('$result.id', bind({ result: { id: 7 } }))).toBe(7);
    expect(await valueOf('$result.id & "!"', bind({ result: { id: 7 } }))).toBe('7!');
    expect(await valueOf('$result.missing', bind({ result: { id: 7 } }))).toBe(undefined);
    expect(await valueOf('$map([{"a": 1}], function($result) { $result.a })', unknown)).toBe(1);
  });
});
