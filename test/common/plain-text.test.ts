import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { cutTo, fittedTable, harmless, oneLine, printedJson, widthOf, wrap } from '../../src/common/index.js';

describe('a text that is shown', () => {
  it.each([
    ['a\u001b[2Jb', 'a␛[2Jb', 'an escape sequence'],
    ['a\u0007b\u007fc\u0000d', 'a␇b␡c␀d', 'control characters'],
    ['a\u009b31mb', 'a\ufffd31mb', 'a control character of the upper half'],
    ['a\u202eb\u2066c\u200fd\u061ce', 'a\ufffdb\ufffdc\ufffdd\ufffde', 'bidirectional marks'],
    ['a\r\n  b\nc\u2028d\u2029e\u0085f\vg', 'a b c d e f g', 'line breaks of all kinds'],
    ['a\tb  c', 'a\tb  c', 'spaces and tabs stay'],
    ['日本語 👩‍👩‍👧 नमस्ते می‌خواهم é', '日本語 👩‍👩‍👧 नमस्ते می‌خواهم é', 'letters of all scripts stay'],
  ])('%j is %j: %s', (text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });

  it('keeps its lines where it may have some', () => {
    expect(harmless('a\r\nb\u2028c\n\td')).toBe('a␍\nb\ufffdc\n\td');
  });

  it('is one line in a cell of a table, and where it is cut', () => {
    expect(
      fittedTable(
        [
          ['a\nb', 'c\u001b'],
          ['d', 'e'],
        ],
        20,
      ),
    ).toBe('a b  c␛\nd    e\n');
    expect(cutTo('a\n\u001b[2Jb', 20)).toBe('a␊␛[2Jb');
    expect(widthOf('a\nb')).toBe(3);
    expect(wrap('a b', 20)).toEqual(['a b']);
  });
});

describe('printed JSON', () => {
  it('escapes what steers, and what readers of logs take for a command', () => {
    expect(printedJson({ a: '\u001b\u009b\u202e\u2028 ##[error] ##vso[x] ###' })).toBe(
      '{"a":"\\u001b\\u009b\\u202e\\u2028 #\\u0023[error] #\\u0023vso[x] ###"}',
    );
  });

  it('is the same value for whoever parses it', () => {
    const odd = fc.constantFrom('##[', '##', '\u202e', '\u0085', '::error::', '\n', 'a', '"', '\\', '\ud800', '##vso[');
    const text = fc.array(odd).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.jsonValue(), text, text, (value, key, more) => {
        const whole = { value, [key]: more };
        const printed = printedJson(whole, 2);
        expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(whole)));
        expect(printed).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|##\[/);
      }),
      { seed: 12 },
    );
  });
});
