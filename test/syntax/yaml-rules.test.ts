import { describe, expect, it } from 'vitest';
import { Source, parseDocument } from '../../src/syntax/index.js';
import { findings, onlyFinding, valueOf } from './helpers.js';

describe('what is read', () => {
  it('is YAML 1.2 with its core schema', () => {
    const text = 'a: 1\nb: [x, true, null, ~, 1.5, "q"]\nc:\n  d: { e: f }\n  g:\n';
    expect(valueOf(text)).toEqual({
      a: 1,
      b: ['x', true, null, null, 1.5, 'q'],
      c: { d: { e: 'f' }, g: null },
    });
  });

  it('is JSON too, indented by tabs as well', () => {
    expect(valueOf('{\n\t"a": [1, 2.5, "\\u00e9\\/"],\n\t"b": { "c": null }\n}\n')).toEqual({
      a: [1, 2.5, 'é/'],
      b: { c: null },
    });
  });

  it('may begin with one document marker and a byte order mark', () => {
    expect(valueOf('---\na: 1\n')).toEqual({ a: 1 });
    expect(valueOf('\ufeffa: 1\n')).toEqual({ a: 1 });
  });

  it('shares an aliased value, at the anchored text', () => {
    const { root } = parseDocument(new Source('flow.yaml', 'a: &x { b: 1 }\nc: *x\n'));
    if (root?.kind !== 'mapping') throw new Error('no map');
    expect(root.entries[1]?.value).toBe(root.entries[0]?.value);
    expect(root.entries[1]?.value.range).toEqual({ start: 6, end: 14 });
  });

  it('has no negative zero, which JSON has not either', () => {
    const value = valueOf('a: -0.0\n');
    expect(Object.is((value as { a: number }).a, 0)).toBe(true);
  });
});

describe('what is refused', () => {
  it.each([
    ['an empty file', '', ['1:1-1 error RS1002 the file is empty']],
    ['a file of comments', '# nothing yet\n', ['1:1-1 error RS1002 the file is empty']],
    ['a second document', 'a: 1\n---\nb: 1\n', ['2:1-4 error RS1003 a second document begins here']],
    ['a second document without a marker', 'a: 1\n...\nb: 1\n', ['3:1-2 error RS1003 a second document begins here']],
    [
      'a directive',
      '%YAML 1.1\n---\na: no\n',
      [
        '1:1-10 error RS1007 directives such as `%YAML` are not part of the language',
        '3:4-6 warning RS1030 the unquoted word `no` is text here, but true or false to other readers of YAML',
      ],
    ],
    [
      'an explicit tag',
      'a: !!binary aGk=\nb: !env HOME\nc: [!x]\n',
      [
        '1:4-12 error RS1008 the explicit tag `!!binary` is not part of the language',
        '2:4-8 error RS1008 the explicit tag `!env` is not part of the language',
        '3:5-7 error RS1008 the explicit tag `!x` is not part of the language',
      ],
    ],
    [
      'a duplicate key',
      'a: 1\nb:\n  c: 1\n  d: 2\n  "c": 3\n',
      ['5:3-6 error RS1009 the key `c` stands twice in one map, in line 3 and in line 5'],
    ],
    [
      'a merge key',
      'a: &x { b: 1 }\nc:\n  <<: *x\n',
      ['3:3-5 error RS1010 merge keys (`<<`) are not part of the language'],
    ],
    [
      'keys that are not text',
      '1: a\ntrue: b\n? [x]\n: c\n~: d\n"2": fine\n',
      [
        '1:1-2 error RS1011 a key must be text, and `1` is a number',
        '2:1-5 error RS1011 a key must be text, and `true` is a boolean',
        '3:3-4 error RS1011 a key must be text',
      ],
    ],
    ['a key that is null', '~: d\n', ['1:1-2 error RS1011 a key must be text, and `~` is null']],
    ['a missing key', 'a:\n  : d\n', ['2:3-4 error RS1011 a key is missing before the colon']],
    [
      'keys that every object has',
      '__proto__: 1\na: { "constructor": 1, prototype: 2 }\n',
      [
        '1:1-10 error RS1012 `__proto__` cannot be a key, since every JavaScript object has one of that name',
        '2:6-19 error RS1012 `constructor` cannot be a key, since every JavaScript object has one of that name',
        '2:24-33 error RS1012 `prototype` cannot be a key, since every JavaScript object has one of that name',
      ],
    ],
    [
      'integers that would be rounded',
      'a: [9007199254740991, 9007199254740993, -0x20000000000000]\n',
      ['1:23-39 error RS1013 the integer 9007199254740993 is beyond ±2^53 and would be rounded to 9007199254740992'],
    ],
    [
      'numbers that are not finite',
      'a: [.inf, -.Inf, .nan, 1e999]\n',
      [
        '1:5-9 error RS1014 `.inf` is not a finite number',
        '1:11-16 error RS1014 `-.Inf` is not a finite number',
        '1:18-22 error RS1014 `.nan` is not a finite number',
        '1:24-29 error RS1014 `1e999` is not a finite number',
      ],
    ],
    ['an alias without anchor', 'a: *b\nb: &b 1\n', ['1:4-6 error RS1015 no anchor `&b` stands before this alias']],
    [
      'an alias of its own surroundings',
      'a: &a [1, *a]\n',
      ['1:11-13 error RS1015 the alias `*a` stands inside the value that it names, which would be endless'],
    ],
    ['a bare star', 'errors: [*]\n', ['1:10-11 error RS1015 `*` alone is an alias without a name']],
    [
      'half a surrogate pair',
      'a: "\\ud83d!"\n',
      ['1:4-13 error RS1006 this text holds half of a surrogate pair, which is no character'],
    ],
    [
      'a tab as indentation',
      'a:\n\tb: 1\n\tc: 2\n',
      ['2:1-2 error RS1017 a tab is used as indentation, and YAML allows only spaces there'],
    ],
  ])('%s', (_title, text, expected) => {
    expect(findings(text)).toEqual(expected);
    const hasError = expected.some((line) => line.includes(' error '));
    expect(parseDocument(new Source('flow.yaml', text)).root === undefined).toBe(hasError);
  });

  it('more than a hundred copies by aliases, nested ones multiplied', () => {
    const copies = (count: number): string => `a: &a [x]\nb: [${Array(count).fill('*a').join(', ')}]\n`;
    expect(findings(copies(100))).toEqual([]);
    expect(findings(copies(101))).toEqual(['2:405-407 error RS1016 aliases make more than 100 copies up to here']);
    const bomb = 'a: &a [x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n';
    expect(findings(bomb)).toEqual(['3:41-43 error RS1016 aliases make more than 100 copies up to here']);
  });

  it('more than 1 MiB, also by aliases', () => {
    expect(findings(`a: ${'x'.repeat(1024 * 1024 - 3)}\n`)).toEqual([
      '1:1-1 error RS1004 the file is larger than 1 MiB',
    ]);
    expect(findings(`a: ${'x'.repeat(1024 * 1024 - 4)}\n`)).toEqual([]);
    // Bytes count, not characters.
    expect(findings(`a: ${'é'.repeat(600_000)}\n`)).toEqual(['1:1-1 error RS1004 the file is larger than 1 MiB']);
    const aliased = `a: &a ${'x'.repeat(400_000)}\nb: *a\nc: *a\nd: *a\n`;
    expect(findings(aliased)).toEqual([
      '3:4-6 error RS1004 with its aliases written out the file is larger than 1 MiB',
    ]);
  });

  it('more than 64 levels, also by aliases, however hostile', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(findings(nested(64))).toEqual([]);
    expect(findings(nested(65))).toEqual(['1:65-66 error RS1005 values are nested more than 64 deep']);
    expect(findings('['.repeat(200_000))).toEqual(['1:65-66 error RS1005 values are nested more than 64 deep']);
    expect(findings(`a: &a ${nested(40)}\nb: ${'['.repeat(23)}*a${']'.repeat(23)}\n`)).toEqual([]);
    expect(findings(`a: &a ${nested(40)}\nb: ${'['.repeat(24)}*a${']'.repeat(24)}\n`)).toEqual([
      '2:28-30 error RS1005 with this alias written out values are nested more than 64 deep',
    ]);
  });

  it('bytes that are no UTF-8, at their place; a genuine U+FFFD is fine', () => {
    const bytes = Buffer.concat([Buffer.from('a: "\ufffd\u{1f600}"\nb: '), Buffer.from([0xe9, 0x0a])]);
    const source = Source.fromBytes('flow.yaml', bytes);
    const { diagnostics } = parseDocument(source);
    expect(diagnostics.map(({ code, range }) => [code, source.position(range.start)])).toEqual([
      ['RS1006', { line: 2, column: 4 }],
    ]);
    expect(Source.fromBytes('flow.yaml', Buffer.from('a: \ufffd\n')).undecodableAt).toBeUndefined();
    expect(Source.fromBytes('flow.yaml', Buffer.from('\ufeffa: 1\n')).text).toBe('a: 1\n');
    const utf16 = Source.fromBytes('flow.yaml', Buffer.from('\ufeffa: 1\n', 'utf16le'));
    expect(parseDocument(utf16).diagnostics.map(({ code }) => code)).toEqual(['RS1006']);
  });
});

describe('what is warned about', () => {
  it.each([
    [
      'words that other readers take for booleans',
      'on: Yes\na: [off, "no", nO]\n',
      [
        '1:1-3 warning RS1030 the unquoted word `on` is text here, but true or false to other readers of YAML',
        '1:5-8 warning RS1030 the unquoted word `Yes` is text here, but true or false to other readers of YAML',
        '2:5-8 warning RS1030 the unquoted word `off` is text here, but true or false to other readers of YAML',
        '2:16-18 warning RS1030 the unquoted word `nO` is text here, but true or false to other readers of YAML',
      ],
    ],
    [
      'numbers that print otherwise',
      'a: [01234, 1.10, 0x1F, 1e3, 10, -2.5, "007"]\n',
      [
        '1:5-10 warning RS1031 `01234` is read as the number 1234',
        '1:12-16 warning RS1031 `1.10` is read as the number 1.1',
        '1:18-22 warning RS1031 `0x1F` is read as the number 31',
        '1:24-27 warning RS1031 `1e3` is read as the number 1000',
      ],
    ],
    [
      'a comment that cuts off a formula',
      'a: =$orders #$i.id\nb: =$x # note\nc: text #$5\n',
      ['1:13-19 warning RS1032 this is a comment to YAML, and the formula ends before it'],
    ],
    [
      'a key without value inside braces',
      'a: { b:1, c, d: }\n',
      [
        '1:6-9 warning RS1033 `b:1` has no value here, so it becomes null',
        '1:11-12 warning RS1033 `c` has no value here, so it becomes null',
      ],
    ],
  ])('%s', (_title, text, expected) => {
    expect(findings(text)).toEqual(expected);
    expect(parseDocument(new Source('flow.yaml', text)).root).toBeDefined();
  });

  it('a cut-off formula knows what cut it', () => {
    const { root } = parseDocument(new Source('flow.yaml', 'a: =$orders #$i.id\n'));
    if (root?.kind !== 'mapping') throw new Error('no map');
    expect(root.entries[0]?.value).toMatchObject({ value: '=$orders', cutOffBy: { start: 12, end: 18 } });
  });

  it('says how to mend it', () => {
    expect(onlyFinding('a: no\n').help).toBe('quote it: "no"; or write false');
    expect(onlyFinding('a: 1.10\n').help).toBe('quote it if it is text: "1.10"; else write 1.1');
    expect(onlyFinding('a: { b:1 }\n').help).toBe('put a space after the colon: `b: 1`');
  });
});
