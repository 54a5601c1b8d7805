import { expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source } from '../../src/syntax/index.js';

const diagnosticsOf = (text: string) => checkSource(new Source('flow.yaml', text)).diagnostics;

test('names in a schema may hold a percent sign', () => {
  const text = 'workflow: a\ninput:\n  x: { properties: { "50%": { type: 5 } } }\nsteps:\n  - set: =1\n';
  expect(diagnosticsOf(text)).toEqual([expect.objectContaining({ code: 'RS2030' })]);
});

test('a reference in a schema may be no sound URL', () => {
  const text = 'workflow: a\ninput:\n  x: { $ref: "#/%E0%A4%A" }\nsteps:\n  - set: =$input.x\n';
  expect(() => diagnosticsOf(text)).not.toThrow();
});

test('an empty formula is shown at its quotes', () => {
  const text = 'workflow: a\nsteps:\n  - forEach: ""\n    do:\n      - set: =1\n';
  const shown = diagnosticsOf(text).map(({ code, range }) => [code, text.slice(range.start, range.end)]);
  expect(shown).toEqual([['RS3001', '""']]);
});

test('`item in list` may have any sign for an item', () => {
  const text = 'workflow: a\nsteps:\n  - forEach: =* in [1]\n    do:\n      - set: =1\n';
  expect(diagnosticsOf(text).map(({ code }) => code)).not.toEqual([]);
});

test('of two mistakes that begin at one place the shorter is told first', () => {
  for (const text of ['%x\n', '%\n---\n', '{ a: *b [ }\n', 'a: { b: !c [d }\n']) {
    const ranges = diagnosticsOf(text).map(({ range }) => range);
    expect(ranges).toEqual([...ranges].sort((a, b) => a.start - b.start || a.end - b.end));
  }
});
