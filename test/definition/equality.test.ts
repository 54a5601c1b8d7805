import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../src/definition/index.js';

const messages = (schema: Parameters<typeof compileSchema>[0], value: unknown): string[] =>
  compileSchema(schema)(JSON.parse(JSON.stringify(value)) as never).map(({ message }) => message);

describe('values are compared by what they hold, whatever their fields are called', () => {
  it.each<[string, unknown[], boolean]>([
    ['a field called toString', [{}, { toString: '' }], true],
    ['a field called valueOf', [{ valueOf: 1 }, { valueOf: 1 }], false],
    ['a field called constructor', [{ constructor: 1 }, { constructor: 2 }], true],
    [
      'the order of fields',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    ['texts and numbers', ['1', 1, true, 'true', null, 'null', [1], '[1]', { a: 1 }, '{"a":1}'], true],
    ['zero', [0, -0], false],
    ['half a surrogate pair', ['\ud800', '\ud801'], true],
  ])('%s', (_, items, areUnique) => {
    expect(messages({ uniqueItems: true }, items)).toEqual(areUnique ? [] : ['must not hold the same item twice']);
    expect(messages({ uniqueItems: false }, items)).toEqual([]);
  });

  it('const and enum', () => {
    expect(messages({ const: { toString: '' } }, { toString: '' })).toEqual([]);
    expect(messages({ const: { valueOf: 1 } }, {})).toEqual(['must be {"valueOf":1}, is {}']);
    expect(messages({ enum: [{}, { toString: 1 }] }, { toString: 1 })).toEqual([]);
    expect(messages({ enum: ['a', 1] }, 'b')).toEqual(['must be one of ["a",1], is "b"']);
  });

  it('a list of many objects is looked through once', () => {
    const items = Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'the same' }));
    expect(messages({ uniqueItems: true }, items)).toEqual([]);
    expect(messages({ uniqueItems: true }, [...items, { name: 'the same', id: 0 }])).toHaveLength(1);
  });
});
