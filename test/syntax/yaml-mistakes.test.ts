import { describe, expect, it } from 'vitest';
import { findings, onlyFinding } from './helpers.js';

const flow = 'inside `{ … }` or `[ … ]` YAML cuts an unquoted formula up at its own commas, colons and brackets';
const colon = 'an unquoted formula cannot hold `: `, which starts a map in YAML';

describe('a formula inside braces or brackets is one mistake, whatever YAML makes of it', () => {
  it.each([
    ['two keys without any YAML error', 'with: { r: =$round($x, 2) }\nb: 1\n', '1:12-26'],
    ['a cascade of errors', 'with: { a: =$x[0] }\nb: 1\nc: 2\n', '1:12-18'],
    ['an object', 'with: {a: =$x{"k": v}, b: 1}\n', '1:11-22'],
    ['a choice', 'with: { a: =$x ? 1 : 2 }\n', '1:12-23'],
    ['text with a comma', 'with: { a: ="x, y" & $z }\n', '1:12-24'],
    ['an item of a list', 'with: [ 1, =$f(1, 2), 3 ]\n', '1:12-21'],
    ['a condition without `=`', 'retry: { attempts: 3, when: $contains($error.message, "x") }\n', '1:29-59'],
    ['over two lines', 'with: { a: =$f(1,\n  2), b: 1 }\n', '1:12-2:5'],
  ])('%s', (_title, text, place) => {
    expect(findings(text)).toEqual([`${place} error RS1019 ${flow}`]);
  });

  it('is quoted in the help, single quotes doubled', () => {
    expect(onlyFinding("a: { b: =$f('x', 2) }\n").help).toBe(
      "quote it: '=$f(''x'', 2)'\nor write the collection in block style, one entry a line",
    );
  });

  it.each([
    '{ a: =$x, b: =$count($y), c: =$x.y = "z" }',
    '[ =$a, =$b ]',
    '{ a: "=$f(1, 2)", b: \'=$x[0]\' }',
    '{ price: $5, b: 1 }',
    '{ a: =$x # note, with comma\n}',
    '{ a: =$x\n  & $y }',
  ])('is none where YAML and the formula end together: %s', (text) => {
    expect(findings(`with: ${text}\n`)).toEqual([]);
  });
});

describe('`: ` in unquoted text', () => {
  it.each([
    ['a choice', 'x: =$a ? 1 : 2\ny: 1\n', '1:12-13'],
    ['text with a colon', 'steps:\n  - fail: Bad\n    message: ="By: " & $x\n    b: 1\n', '3:18-19'],
    ['a condition without `=`', 'when: $x = 1 ? true : false\n', '1:21-22'],
    ['a condition without `$`', 'when: count(x) = 1 ? true : false\n', '1:27-28'],
    ['an item of a list, which YAML takes for a map', 'x:\n  - =$a ? 1 : 2\n  - b\n', '2:13-14'],
    ['on the next line', 'x:\n  =$a ? 1 : 2\n', '2:11-12'],
    ['over two lines', 'x: =$a\n  ? 1 : 2\ny: 1\n', '2:7-8'],
    ['twice', 'x: =$a ? {"a": 1} : {"b": 2}\n', '1:14-15'],
  ])('%s', (_title, text, place) => {
    expect(findings(text)).toEqual([`${place} error RS1018 ${colon}`]);
  });

  it('shows the block form', () => {
    expect(onlyFinding('x: =$a ? 1 : 2\n').help).toBe('write it as a block of text:\n  x: >-\n    =$a ? 1 : 2');
    expect(onlyFinding('when: $a\n  ? 1 : 2\n').help).toBe(
      'write it as a block of text:\n  when: >-\n    $a\n    ? 1 : 2',
    );
  });

  it('is answered with quotes where it is no formula', () => {
    const { message, help } = onlyFinding('note: Rejected: by hand\n');
    expect(message).toBe('an unquoted text cannot hold `: `, which starts a map in YAML');
    expect(help).toBe('quote it: note: "Rejected: by hand"');
  });
});

describe('what is not YAML', () => {
  it.each([
    ['a quote never closed', 'a: 1\nb: "abc\nc: 1\nd: 2\n', '2:4-5', 'the quote that opens here is never closed'],
    ['a bracket never closed', 'a: [1, 2\nb: 3\n', '1:4-5', 'the `[` that opens here is never closed'],
    [
      'the inner of two brackets never closed',
      'a: { b: [1, 2 }\nc: 3\n',
      '1:9-10',
      'the `[` that opens here is never closed',
    ],
    ['a brace never closed, in JSON', '{"a": {"b": 1}', '1:1-2', 'the `{` that opens here is never closed'],
    ['a bracket too many', 'a: [1]]\nb: 2\n', '1:7-8', 'this `]` closes nothing'],
    ['a comma too many', 'a: [1,,2]\n', '1:7-8', 'nothing stands before this comma'],
    [
      'a missing comma',
      '{"a": 1 "b": 2}\n',
      '1:7-15',
      'inside `{ … }` and `[ … ]` entries are separated by commas, and one is missing here',
    ],
    ['a missing space', 'a: 1\nb:2\nc: 3\n', '2:2-3', 'a space is missing after this colon'],
    [
      'a line that is no entry',
      'a: 1\nfoo bar\nc: 3\n',
      '2:1-8',
      '`foo bar` is no entry of a map: there is no `: ` after a key',
    ],
    [
      'too little indentation',
      'a:\n  b: 1\n c: 2\n',
      '3:2-3',
      'this line is indented unlike the entries that it stands among',
    ],
    [
      'too much indentation',
      'a: 1\n  b: 2\n',
      '2:3-4',
      'this line is indented deeper than the entry above, which has its value already',
    ],
    ['an item among entries', 'a: 1\n- b\n', '2:1-2', 'a list item stands among the entries of a map'],
    ['an entry among items', '- b\na: 1\n', '2:1-5', 'this line does not continue what stands above it'],
    ['a list on the line of its key', 'a: - b\n', '1:4-5', 'a list begins on the line after its key'],
    ['text after a closing quote', 'a: "x" & $y\nb: 1\n', '1:8-12', 'text follows a closing quote'],
    ['text after a closing brace', 'a: {b: 1} x\n', '1:11-12', 'text follows the closing `}`'],
    ['a reserved first character', 'a: @foo\n', '1:4-8', 'unquoted text cannot begin with `@`'],
    ['an unknown escape', 'a: "C:\\dir"\n', '1:7-9', '`\\d` means nothing inside double quotes'],
    ['a comment without space', 'a: "x"#c\n', '1:7-8', 'a comment needs a space before its `#`'],
    [
      'block text on the line of its mark',
      'a: |x\n  foo\n',
      '1:5-6',
      'the text of a block begins on the line after `|` or `>`',
    ],
    [
      'block text that is not indented',
      'a: |\nfoo\nb: 1\n',
      '2:1-4',
      '`foo` is no entry of a map: there is no `: ` after a key',
    ],
  ])('%s', (_title, text, place, message) => {
    expect(findings(text)).toEqual([`${place} error RS1001 ${message}`]);
  });
});

describe('several mistakes', () => {
  it('are all reported at once where they are independent', () => {
    const text = [
      'a: { r: =$round($x, 2) }',
      'b: { c: =$x[0] }',
      'd: !foo 3',
      'e: =$x ? 1 : 2',
      'f: 1',
      'f: 2',
      'g: "open',
      'h: 1',
      'h: 2',
    ].join('\r\n');
    expect(findings(text)).toEqual([
      `1:9-23 error RS1019 ${flow}`,
      `2:9-15 error RS1019 ${flow}`,
      '3:4-8 error RS1008 the explicit tag `!foo` is not part of the language',
      `4:12-13 error RS1018 ${colon}`,
      '6:1-2 error RS1009 the key `f` stands twice in one map, in line 5 and in line 6',
      '7:4-5 error RS1001 the quote that opens here is never closed',
    ]);
  });
});
