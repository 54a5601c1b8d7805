import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/common/index.js';

describe('JSON from outside', () => {
  it.each([
    '{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]}',
    '[9007199254740991, -9007199254740991, 1.5, 1e21, 0.1234567890123456789]',
    '{"n": "12345678901234567890", "a\\"b": "{\\"a\\":1,\\"a\\":1}"}',
    '"text, with: {brackets}"',
    'null',
    '{}',
    ' [ ] ',
    '{"__proto__": 1, "constructor": 2}',
    '{"a": ["a", "a"], "b": "a"}',
  ])('%s is read as it stands', (text) => {
    expect(readJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['{"a": 1, "a": 2}', 'the key "a" (line 1, column 10) is there twice'],
    ['{"a": 1,\n "b": [{"c": 1, "c": 1}]}', 'the key "c" (line 2, column 17) is there twice'],
    ['{"a": 1, "\\u0061": 2}', 'the key "a" (line 1, column 10) is there twice'],
    ['{"a": {"x": 1}, "b": 2, "a": 1}', 'the key "a"'],
    ['{"": 1, "": 2}', 'the key ""'],
    ['{"__proto__": 1, "__proto__": 2}', 'the key "__proto__"'],
    ['{"id": 12345678901234567890}', 'quote it: "12345678901234567890"'],
    ['[1, -9007199254740993]', 'the integer -9007199254740993 (line 1, column 5) is beyond'],
    ['9007199254740992', 'would be rounded'],
  ])('%s is refused', (text, message) => {
    expect(() => readJson(text)).toThrow(message);
  });

  it('that is none says what JSON.parse says', () => {
    for (const text of ['', '{', '{a: 1}', '[1,]', "{'a': 1}"]) expect(() => readJson(text)).toThrow(SyntaxError);
  });
});
