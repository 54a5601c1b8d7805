import { describe, expect, it } from 'vitest';

import { type FormulaProblem, analyseFormula, stepReferences } from '../../src/expression/index.js';

const known = new Set(['input', 'constants', 'steps', 'run', 'item']);
const problemsOf = (formula: string): FormulaProblem[] => analyseFormula(formula, known);

const here = 'a formula reads only the variables of the place where it stands';

/** `kind: the wrong words -> message | help`, without the help for a variable that does not exist. */
const told = (formula: string): string[] =>
  problemsOf(formula).map(
    ({ kind, start, end, message, help }) =>
      `${kind}: ${formula.slice(start, end)} -> ${message}${help === here ? '' : ` | ${help}`}`,
  );

describe('a formula without mistakes has no problems', () => {
  it.each([
    '=$input.total > $constants.limit and $exists($steps.decision)',
    '$steps.decision.approved ?? "none"',
    '$item.qty ?: 1',
    '$input.items[qty > 1 and in.stock].sku',
    '$input.items.(price * qty)',
    '$input.items^(>price, sku).{"sku": sku, "all": $}',
    '$input.items{category: $sum(qty)}',
    '$input.items@$line#$n.{"line": $line.sku, "n": $n}',
    '($rate := 0.2; $map($input.items, function($x, $i) { $x.price * $rate + $i }))',
    '($f := function($n) { $n < 2 ? 1 : $n * $f($n - 1) }; $f(5))',
    '$map($input.names, $uppercase) ~> $join(", ")',
    '$input ~> |items|{"total": qty * price}, ["price"]|',
    '$addDuration($now(), "-3d")',
    '$contains($input.name, /^[a-z]+$/i)',
    '$input.`a field` & $input."another"',
    '/* why */ true',
  ])('%s', (formula) => {
    expect(told(formula)).toEqual([]);
  });
});

describe('names', () => {
  it.each([
    [
      'total > 1',
      [
        'bare-name: total -> `total` stands for nothing here: names outside a list\'s `[…]` begin with a variable | did you mean `$input.total`? As text it is written `"total"`',
      ],
    ],
    [
      'input.total',
      [
        "bare-name: input -> `input` stands for nothing here: names outside a list's `[…]` begin with a variable | did you mean `$input.total`?",
      ],
    ],
    [
      '= customer.id = "x"',
      [
        'bare-name: customer -> `customer` stands for nothing here: names outside a list\'s `[…]` begin with a variable | did you mean `$input.customer.id`? As text it is written `"customer.id"`',
      ],
    ],
    [
      '$input.ok = True',
      [
        "bare-name: True -> `True` stands for nothing here: names outside a list's `[…]` begin with a variable | write `true`",
      ],
    ],
    [
      '$.total',
      [
        'bare-name: $ -> `$` is empty here: a formula has no context, only variables | begin with a variable, as in `$input`',
      ],
    ],
    [
      '$$.total',
      [
        'bare-name: $$ -> `$$` is empty here: a formula has no context, only variables | begin with a variable, as in `$input`',
      ],
    ],
    [
      '**.total',
      [
        'bare-name: ** -> `**` is empty here: a formula has no context, only variables | begin with a variable, as in `$input`',
      ],
    ],
    [
      '$inptu.total + $itme',
      [
        'unknown-variable: $inptu -> there is no variable `$inptu` here',
        'unknown-variable: $itme -> there is no variable `$itme` here',
      ],
    ],
    [
      '$upercase($input.a)',
      ['unknown-function: $upercase -> there is no function `$upercase` | did you mean `$uppercase`?'],
    ],
    ['$input.a ~> $upercase', ['unknown-variable: $upercase -> there is no variable `$upercase` here']],
    [
      '$input(1)',
      [
        'unknown-function: $input -> `$input` is a value, not a function | write `$input` without brackets, or `[…]` for one of its items',
      ],
    ],
    [
      'count($input.items)',
      ['unknown-function: count -> `count(…)` is no function: functions begin with `$` | write `$count($input.items)`'],
    ],
    [
      '$input.name.trim()',
      ['unknown-function: trim -> `trim(…)` is no function: functions begin with `$` | write `$trim($input.name)`'],
    ],
    [
      '$input.name.toUpperCase()',
      [
        'unknown-function: toUpperCase -> `toUpperCase(…)` is no function: functions begin with `$` | write `$uppercase($input.name)`',
      ],
    ],
    [
      '$input.items.length > 0',
      [
        'length: length -> `.length` is a field called length here, not a number of items or characters | `$count($input.items)` counts the items of a list, `$length($input.items)` the characters of a text',
      ],
    ],
    ['$eval($input.code)', ['eval: $eval -> `$eval` is not available in formulas | write out what is to be computed']],
    [
      '$nope ?? $gone',
      [
        'unknown-variable: $nope -> there is no variable `$nope` here',
        'unknown-variable: $gone -> there is no variable `$gone` here',
      ],
    ],
    ['($x := 1; $x) + $x', ['unknown-variable: $x -> there is no variable `$x` here']],
    ['$map($input.a, function($x) { $x }) & $x', ['unknown-variable: $x -> there is no variable `$x` here']],
    ['$input.items[$qty > 1]', ['unknown-variable: $qty -> there is no variable `$qty` here']],
  ])('%s', (formula, expected) => {
    expect(told(formula)).toEqual(expected);
  });
});

describe('a text that is no formula has one problem', () => {
  it.each([
    ['$input.a == 1', 'syntax: == -> `==` is not part of formulas | write `=`: one sign compares'],
    ['$input.a === 1', 'syntax: === -> `===` is not part of formulas | write `=`: one sign compares'],
    ['$input.a !== 1', 'syntax: !== -> `!==` is not part of formulas | write `!=`'],
    ['$input.a && $input.b', 'syntax: && -> `&&` is not part of formulas | write `and`'],
    ['$input.a || $input.b', 'syntax: || -> `||` is not part of formulas | write `or`'],
    ['!$input.a', 'syntax: ! -> `!` is not part of formulas | write `$not($input.a)`'],
    ['$map($input.a, $x => $x)', 'syntax: => -> `=>` is not part of formulas | write `function($x) { $x }`'],
    [
      '$input.a is null',
      'syntax: is null -> `is null` is not part of formulas | write `$not($exists($input.a))`; for a null that was given, `$input.a = null`',
    ],
    [
      '$input.a is not null',
      'syntax: is not null -> `is not null` is not part of formulas | write `$exists($input.a)`; for a null that was given, `$input.a != null`',
    ],
    ['', 'syntax:  -> the formula is empty'],
    ['= 1 +', 'syntax: + -> the formula ends too early: something is missing at the end'],
    ['$sum($input.a', 'syntax: ( -> `(` is never closed'],
    ['$sum($input.a]', 'syntax: ] -> `)` is expected here, not `]`'],
    ['$input.a $input.b', 'syntax: $input -> `$input` is not expected here'],
    ['"never closed', 'syntax: "never closed -> a text has no closing quote'],
    ['> 5', 'syntax: > -> `>` needs something before it'],
    [
      '$contains("a", /(?=a)/)',
      'syntax: /(?=a)/ -> the regular expression /(?=a)/ cannot be used: invalid or unsupported Perl syntax: `(?=` (look-around and back-references do not exist here, because they can take for ever)',
    ],
    ['$contains("a", /(a/)', 'syntax: '],
    ['a := 1', 'syntax: a -> only a variable (`$name`) can stand before `:=`'],
  ])('%s', (formula, expected) => {
    expect(told(formula).length).toBe(1);
    expect(told(formula)[0]).toContain(expected);
  });

  it('does not blame a field that is called as other languages have it', () => {
    expect(told('$input.is + ')[0]).toContain('ends too early');
    expect(told('$input.not.is = 1')).toEqual([]);
  });
});

describe('references to steps', () => {
  it.each([
    ['$steps.charge.paymentId', ['charge']],
    ['= $steps.a + $steps.b.c ?? $steps.a', ['a', 'b', 'a']],
    ['$steps.`a` & $steps."b"', ['a', 'b']],
    ['$steps.pack[sku = $steps.wanted.sku].qty', ['pack', 'wanted']],
    ['$map($steps.list, function($steps) { $steps.inner })', ['list']],
    ['$lookup($steps, "x")', []],
    ['not a formula (', []],
  ])('%s', (formula, ids) => {
    const references = stepReferences(formula);
    expect(references.map(({ id }) => id)).toEqual(ids);
    for (const { id, start, end } of references) expect(formula.slice(start, end)).toBe(id);
  });
});
