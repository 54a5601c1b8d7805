import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Source, parseDocument, renderDiagnostics } from '../../src/syntax/index.js';

/** Pieces of YAML, so that random texts run into every corner of it. */
const pieces = [
  ...['a', 'b', 'when', 'no', '1', '1.0', '"q"', "'s'", '"', "'", '=$x', '$x', '=f(1, 2)', '[0]', 'é日😀'],
  ...[
    ': ',
    ':',
    ', ',
    '- ',
    '-',
    '? ',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '#',
    ' #',
    ' #$i',
    '&a ',
    '*a',
    '*',
    '!t ',
    '|',
    '>-',
    '%',
  ],
  ...[' ', '  ', '\t', '\n', '\n', '\n  ', '\r\n', '---\n', '...\n', '<<', '\\', '\u0000', '\ufeff', '@'],
];
const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(''));

it('any text is either read or answered with diagnostics inside it, in order, that can be shown', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const source = new Source('flow.yaml', text);
      const { root, diagnostics } = parseDocument(source);
      expect(root === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
      let previous = 0;
      for (const { range, message } of diagnostics) {
        expect(range.start).toBeGreaterThanOrEqual(previous);
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        expect(range.start).toBeLessThanOrEqual(text.length);
        expect(message).not.toBe('');
        previous = range.start;
      }
      expect(renderDiagnostics(diagnostics, source).split('\n').length).toBeGreaterThanOrEqual(diagnostics.length);
    }),
    { numRuns: 2000, seed: 20261 },
  );
});
