import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/common/index.js';
import { seededRandom } from '../../src/expression/random.js';
import { givenInput } from './surroundings.js';

/*
 * What JSONata has wrong, or takes in its own way, each held to what a small oracle says. What cannot be right is an error.
 */

const grid = {
  rows: [
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ],
  tables: [
    {
      rows: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      rows: [
        [5, 6],
        [7, 8],
      ],
    },
  ],
  cubes: [
    [
      [1, 2],
      [3, 4],
    ],
    [
      [5, 6],
      [7, 8],
    ],
  ],
  items: [
    { n: 1, tags: ['a', 'b'], kept: true },
    { n: 2, tags: ['c'], kept: false },
  ],
  r: 1,
  c: 2,
  z: 0,
};

describe('a computed index before another', () => {
  it.each<[formula: string, value: JsonValue | undefined]>([
    ['$input.rows[$input.r][0]', 4],
    ['$input.rows[$input.r][$input.c]', 6],
    ['$input.rows[1][$input.c]', 6],
    ['$input.rows[-1][0]', 7],
    ['$input.rows[$input.z - 1][0]', 7],
    ['$input.rows[$input.r][-1]', 6],
    ['$input.rows[9 - $input.r][0]', undefined],
    ['$input.rows[$count($input.rows) - 1][1]', 8],
    ['$input.cubes[$input.r][$input.z][1]', 6],
    ['$input.cubes[$input.r][$input.z][$input.r]', 6],
    ['$input.cubes[1][$input.z][$input.r]', 6],
    ['($r := $input.rows; $r[$input.r][0])', 4],
    ['($i := 2; $input.rows[$i][0])', 7],
    ['$map([0..2], function($i) { $input.rows[$i][$i] })', [1, 5, 9]],
    ['$input.tables[$input.r].rows[$input.z][1]', 6],
    ['$input.tables.rows[$input.r][0]', [3, 7]],
    ['$input.items[$input.r].tags[0]', 'c'],
    ['$input.items[$input.z].tags[$input.r]', 'b'],
    ['$input.items[kept][0].n', 1],
    ['$input.items[kept = true][0].n', 1],
    ['$input.items[n > 1][$input.z].n', 2],
    ['$input.rows[$count($) = 3][0]', [1, 2, 3]],
    ['$input.rows[$contains("x", "x")][1]', [4, 5, 6]],
    ['$input.rows[$input.r][$ > 4]', [5, 6]],
  ])('%s', async (formula, value) => {
    expect(await givenInput(formula, grid)).toEqual(value);
  });

  it('that turns out to be a condition over lists is an error', async () => {
    await expect(givenInput('$input.rows[$input.kept][0]', { ...grid, kept: true })).rejects.toThrow('compare it');
  });
});

describe('values of a list that a function made', () => {
  it.each<[formula: string, value: JsonValue]>([
    [
      '$map([1, 2], function($x) { $map([1, 2], function($y) { {"v": $x * $y} }) }).*',
      [{ v: 1 }, { v: 2 }, { v: 2 }, { v: 4 }],
    ],
    ['$map([1, 2], function($x) { {"a": $x} }).*', [1, 2]],
    ['$map([1], function($x) { $map([1], function($y) { {"v": $y} }) }).*', 1],
    ['$map([[1, 2], [3]], function($r) { $map($r, function($x) { $x }) }).*', [1, 2, 3]],
    ['($map([1, 2], function($x) { [$x] })[]).*', [1, 2]],
    ['$filter($input.items, function($i) { $i.n > 0 }).*', [1, 'a', 'b', true, 2, 'c', false]],
  ])('%s', async (formula, value) => {
    expect(await givenInput(formula, grid)).toEqual(value);
  });
});

describe('base64', () => {
  it.each(['', 'a', 'ab', 'abc', 'é', 'Preis: 5 € 👍', '日本語', '\0\u0001', 'a\nb'])(
    'goes there and back: %j',
    async (t) => {
      const encoded = Buffer.from(t, 'utf8').toString('base64');
      expect(await givenInput('$base64encode($input.t)', { t })).toBe(encoded);
      expect(await givenInput('$base64decode($input.e)', { e: encoded })).toBe(t);
      expect(await givenInput('$base64decode($input.e)', { e: encoded.replace(/=+$/, '') })).toBe(t);
    },
  );

  it.each(['*', 'a', '6Q==', '/w==', 'YQ==='])('%j is an error', async (e) => {
    await expect(givenInput('$base64decode($input.e)', { e })).rejects.toThrow('base64');
  });

  it('refuses half of a character', async () => {
    await expect(givenInput('$base64encode($input.t)', { t: '\ud83d' })).rejects.toThrow('half');
  });
});

describe('`$number` and `$parseInteger`', () => {
  it.each<[text: string, value: number]>([
    ['0', 0],
    ['-1.5', -1.5],
    ['1e3', 1000],
    ['9007199254740991', 9007199254740991],
    ['0x1F', 31],
    ['0b11', 3],
    ['0.1234567890123456789', 0.12345678901234568],
  ])('$number("%s")', async (text, value) => {
    expect(await givenInput('$number($input.t)', { t: text })).toBe(value);
  });
  it.each(['9007199254740993', '12345678901234567890', '0x1Fzz', 'abc0b1', '', ' 1', '1 ', '+1', '1e400', '12abc'])(
    '$number(%j) is an error',
    async (t) => {
      await expect(givenInput('$number($input.t)', { t })).rejects.toThrow();
    },
  );

  it.each<[text: string, picture: string, value: number]>([
    ['12', '0', 12],
    ['0012', '0', 12],
    ['-5', '0', -5],
    ['1,234,567', '#,##0', 1234567],
    ['1234567', '#,##0', 1234567],
    ['21st', '0;o', 21],
    ['xiv', 'i', 14],
    ['XIV', 'I', 14],
    ['AB', 'A', 28],
    ['one hundred and twenty-one', 'w', 121],
    ['ONE', 'W', 1],
  ])('$parseInteger("%s", "%s")', async (t, p, value) => {
    expect(await givenInput('$parseInteger($input.t, $input.p)', { t, p })).toBe(value);
  });
  it.each([
    ['12abc', '0'],
    ['abc', '0'],
    ['', '0'],
    ['1.5', '0'],
    ['12 ', '0'],
    ['9007199254740993', '0'],
    ['IIX', 'I'],
    ['xyz', 'i'],
    ['one banana', 'w'],
    ['a', 'A'],
  ])('$parseInteger("%s", "%s") is an error', async (t, p) => {
    await expect(givenInput('$parseInteger($input.t, $input.p)', { t, p })).rejects.toThrow();
  });
});

describe('`$formatNumber`', () => {
  /** By the library of the language: half to even, as the picture of XPath asks. */
  const oracle = (value: number, least: number, most: number, grouped: boolean): string =>
    new Intl.NumberFormat('en-US', {
      minimumFractionDigits: least,
      maximumFractionDigits: most,
      useGrouping: grouped,
      roundingMode: 'halfEven',
    } as Intl.NumberFormatOptions).format(value);

  it('writes what the library of the language writes', async () => {
    const random = seededRandom('numbers');
    const pictures: [string, number, number, boolean][] = [
      ['#,##0.00', 2, 2, true],
      ['0', 0, 0, false],
      ['#,##0', 0, 0, true],
      ['0.##', 0, 2, false],
      ['0.0#', 1, 2, false],
    ];
    const edges = [0, 0.5, 1.5, 2.5, -0.5, 0.005, 0.125, 999.995, 1234567.891, -1234.5, 1e6, 999999999, 12345678901];
    const values = [...edges, ...Array.from({ length: 60 }, () => Math.round((random() - 0.5) * 1e9) / 1000)];
    for (const value of values) {
      for (const [p, least, most, grouped] of pictures) {
        const text = oracle(value, least, most, grouped).replace(/^-(?=[0.,]*$)/, '');
        const written = String(await givenInput('$formatNumber($input.v, $input.p)', { v: value, p }));
        expect([value, p, written.replace(/^-(?=[0.,]*$)/, '')]).toEqual([value, p, text]);
      }
    }
  });

  it.each<[value: number, picture: string, text: string]>([
    [0.29, '0%', '29%'],
    [0.1234, '0.0%', '12.3%'],
    [5, '000', '005'],
    [-5, '0;(0)', '(5)'],
    [1234.5, 'EUR #,##0.00', 'EUR 1,234.50'],
    [9007199254740991, '0', '9007199254740991'],
  ])('%d by %s', async (v, p, text) => {
    expect(await givenInput('$formatNumber($input.v, $input.p)', { v, p })).toBe(text);
  });

  it.each<[value: number, picture: string]>([
    [1e21, '0'],
    [9007199254740993.5, '0.0'],
    [12, '#,##,##0'],
    [1, '0.0,0'],
    [10, '0.0e0'],
    [123456789012.35, '0.000000'],
    [1, '#'.repeat(201)],
    [1, '0.0.0'],
  ])('%d by %s is an error', async (v, p) => {
    await expect(givenInput('$formatNumber($input.v, $input.p)', { v, p })).rejects.toThrow();
  });
});

describe('`$formatInteger` and `$formatBase`', () => {
  it('write what can be read back', async () => {
    for (const p of ['0', '#,##0', '000', 'w', 'W', 'Ww', 'I', 'i', 'A', 'a', '0;o']) {
      for (const v of [
        1, 2, 3, 9, 10, 11, 12, 13, 19, 20, 21, 26, 27, 40, 99, 100, 101, 111, 400, 702, 703, 999, 1000, 1999, 3999,
      ]) {
        expect(await givenInput('$parseInteger($formatInteger($input.v, $input.p), $input.p)', { v, p })).toBe(v);
      }
    }
    for (let radix = 2; radix <= 36; radix += 1) {
      for (const v of [0, 1, 255, -255, 2 ** 53 - 1]) {
        expect(await givenInput('$formatBase($input.v, $input.radix)', { v, radix })).toBe(v.toString(radix));
      }
    }
  });

  it.each<[value: number, picture: string, text: string]>([
    [1, '0;o', '1st'],
    [112, '0;o', '112th'],
    [1234567, '#,##0', '1,234,567'],
    [12, '#,##0', '12'],
    [-7, '000', '-007'],
    [1999, 'I', 'MCMXCIX'],
    [1001, 'w', 'one thousand and one'],
  ])('%d by %s', async (v, p, text) => {
    expect(await givenInput('$formatInteger($input.v, $input.p)', { v, p })).toBe(text);
  });

  it.each<[value: number, picture: string]>([
    [0, 'I'],
    [4000, 'I'],
    [0, 'A'],
    [1e300, 'I'],
    [1e300, 'w'],
    [12, '#,##,##0'],
    [12, '#,##0.000'],
    [1e21, '0'],
    [1, '#,'.repeat(101)],
  ])('%d by %s is an error', async (v, p) => {
    await expect(givenInput('$formatInteger($input.v, $input.p)', { v, p })).rejects.toThrow();
  });

  it('$formatBase beyond what a number holds is an error', async () => {
    await expect(givenInput('$formatBase(1e21, 16)')).rejects.toThrow('exactly');
    await expect(givenInput('$formatBase(1, 37)')).rejects.toThrow();
  });
});

describe('texts and lists, by oracles', () => {
  const texts = ['', 'a', 'ab,c', ',', '😀a', 'ä,ö', 'a,,b', '日本'];

  it('$split, $join, $length, $substring, $pad, $reverse', async () => {
    for (const t of texts) {
      const characters = [...t];
      expect(await givenInput('$split($input.t, ",")', { t })).toEqual(t.split(','));
      expect((await givenInput('$split($input.t, "")', { t })) ?? []).toEqual(characters);
      expect(await givenInput('$split($input.t, ",", 1)', { t })).toEqual(t.split(',').slice(0, 1));
      expect(await givenInput('$join($split($input.t, ","), ",")', { t })).toBe(t);
      expect(await givenInput('$length($input.t)', { t })).toBe(characters.length);
      for (const n of [-3, -1, 0, 1, 2, 9]) {
        expect(await givenInput('$substring($input.t, $input.n)', { t, n })).toBe(characters.slice(n).join(''));
        const missing = Math.max(0, Math.abs(n) - characters.length);
        const padding = '日'.repeat(missing);
        expect(await givenInput('$pad($input.t, $input.n, "日")', { t, n })).toBe(n > 0 ? t + padding : padding + t);
      }
    }
  });

  it('$sort is stable, by a comparator and by terms', async () => {
    const random = seededRandom('sort');
    const list = Array.from({ length: 200 }, (_, i) => ({ k: Math.floor(random() * 5), i }));
    const sorted = [...list].sort((a, b) => a.k - b.k);
    expect(await givenInput('$sort($input.list, function($a, $b) { $a.k > $b.k })', { list })).toEqual(sorted);
    expect(await givenInput('$input.list^(k)', { list })).toEqual(sorted);
    const down = [...list].sort((a, b) => b.k - a.k);
    expect(await givenInput('$input.list^(>k)', { list })).toEqual(down);
  });

  it('$merge, $each, $keys, $lookup, $spread, $sift keep every key, in order', async () => {
    const o = { b: 1, a: null, '': 2, length: 3, 'x y': [1], toString: 'own', constructor: 4 };
    const entries = Object.entries(o);
    expect(await givenInput('$merge([$input.o, {"b": 9, "c": 1}])', { o })).toEqual({ ...o, b: 9, c: 1 });
    expect(await givenInput('$each($input.o, function($v, $k) { $k })', { o })).toEqual(entries.map(([key]) => key));
    expect(await givenInput('$keys($input.o)', { o })).toEqual(entries.map(([key]) => key));
    expect(await givenInput('$sift($input.o, function($v) { $v != 2 })', { o })).toEqual(
      Object.fromEntries(entries.filter(([, value]) => value !== 2)),
    );
    for (const [k, value] of entries) expect(await givenInput('$lookup($input.o, $input.k)', { o, k })).toEqual(value);
    expect(await givenInput('$exists($lookup($input.o, "hasOwnProperty"))', { o })).toBe(false);
  });

  it('$distinct, $append, $zip, $sum, $max, $min, $average, $count', async () => {
    const list = [3, 1, 3, 2, 1];
    expect(await givenInput('$distinct($input.list)', { list })).toEqual([3, 1, 2]);
    expect(await givenInput('$append($input.list, 4)', { list })).toEqual([...list, 4]);
    expect(await givenInput('$zip($input.list, [1, 2])', { list })).toEqual([
      [3, 1],
      [1, 2],
    ]);
    expect(
      await givenInput(
        '[$sum($input.list), $max($input.list), $min($input.list), $average($input.list), $count($input.list)]',
        { list },
      ),
    ).toEqual([10, 3, 1, 2, 5]);
  });

  it('$round goes to even, with digits before and after the point', async () => {
    const cases: [number, number, number][] = [
      [2.5, 0, 2],
      [3.5, 0, 4],
      [-2.5, 0, -2],
      [1.005, 2, 1],
      [0.125, 2, 0.12],
      [125, -1, 120],
      [135, -1, 140],
      [8.345, 2, 8.34],
    ];
    for (const [v, d, value] of cases) expect(await givenInput('$round($input.v, $input.d)', { v, d })).toBe(value);
  });
});

describe('numbers that would be rounded', () => {
  it.each(['9007199254740993', '$input.id = 12345678901234567890', '-9007199254740993', '[12345678901234567890]'])(
    '%s is an error',
    async (formula) => {
      await expect(givenInput(formula, { id: 1 })).rejects.toThrow('beyond ±2^53');
    },
  );
});
