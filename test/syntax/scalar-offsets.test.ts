import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ScalarNode } from '../../src/syntax/index.js';
import { scalarAt } from './helpers.js';

/**
 * A text written by hand together with the place of every character of its value. `writer.value` and
 * `writer.offsets` are what the parser must find again.
 */
class Writer {
  source = '';
  value = '';
  offsets: number[] = [];

  /** Source that is no part of the value. */
  raw(text: string): this {
    this.source += text;
    return this;
  }

  /** Characters of the value that the source text as a whole stands for. */
  means(value: string, text: string): this {
    for (let index = 0; index < value.length; index += 1) this.offsets.push(this.source.length);
    this.value += value;
    return this.raw(text);
  }

  /** Characters that stand for themselves. */
  plain(text: string): this {
    for (const unit of text.split('')) this.means(unit, unit);
    return this;
  }
}

const runs = { numRuns: 300, seed: 20260 };

const word = fc.stringMatching(/^[a-zA-Z=$é日][a-z0-9.&$(é日😀"'\\)]{0,6}$/u);
const blanks = fc.constantFrom('', ' ', '\t', '  ');
const eol = fc.constantFrom('\n', '\r\n');
const indent = fc.constantFrom('  ', '    ', ' \t');

/** Lines of words; the number of empty lines before each line but the first. */
const paragraphs = fc.array(
  fc.record({
    words: fc.array(word, { minLength: 1, maxLength: 4 }),
    emptyBefore: fc.nat(2),
    trailing: blanks,
    indent,
  }),
  { minLength: 1, maxLength: 5 },
);

function exactOffsets(node: ScalarNode): number[] {
  return Array.from({ length: String(node.value).length }, (_, index) => node.offsetOf(index));
}

function check(writer: Writer, style: ScalarNode['style']): void {
  const node = scalarAt(writer.source, 'v');
  expect(node.style).toBe(style);
  expect(node.value).toBe(writer.value);
  expect(exactOffsets(node)).toEqual(writer.offsets);
}

/** A break between lines of a flow scalar: a space, or one line feed for each empty line. */
function fold(writer: Writer, line: { emptyBefore: number; indent: string; trailing: string }, newline: string): void {
  writer.raw(line.trailing);
  if (line.emptyBefore === 0) writer.means(' ', newline);
  else {
    writer.raw(newline);
    for (let empty = 0; empty < line.emptyBefore; empty += 1) writer.raw(line.indent).means('\n', newline);
  }
  writer.raw(line.indent);
}

describe('offsetOf finds the place of every character', () => {
  it('in plain text, folded over lines', () => {
    fc.assert(
      fc.property(paragraphs, eol, (lines, newline) => {
        const writer = new Writer().raw(`first: 1${newline}v: `);
        lines.forEach((line, number) => {
          const text = line.words.join(' ');
          if (number > 0) fold(writer, line, newline);
          writer.plain(text);
        });
        writer.raw(`${newline}last: 2${newline}`);
        check(writer, 'plain');
      }),
      runs,
    );
  });

  it('in single quotes, doubled quotes and folds included', () => {
    fc.assert(
      fc.property(paragraphs, eol, (lines, newline) => {
        const writer = new Writer().raw("v: '");
        lines.forEach((line, number) => {
          if (number > 0) fold(writer, line, newline);
          for (const unit of line.words.join(' ').split('')) {
            if (unit === "'") writer.means("'", "''");
            else writer.plain(unit);
          }
        });
        writer.raw(`'${newline}`);
        check(writer, 'single');
      }),
      runs,
    );
  });

  const escapes: readonly (readonly [string, string])[] = [
    ['\n', '\\n'],
    ['\t', '\\t'],
    ['\0', '\\0'],
    ['\u0007', '\\a'],
    ['\u001b', '\\e'],
    ['\u0085', '\\N'],
    ['\u00a0', '\\_'],
    ['\u2028', '\\L'],
    ['/', '\\/'],
    ['"', '\\"'],
    ['\\', '\\\\'],
    [' ', '\\ '],
    ['\t', '\\\t'],
    ['A', '\\x41'],
    ['é', '\\u00e9'],
    ['😀', '\\U0001F600'],
  ];

  it('in double quotes: escapes, folds, continued lines', () => {
    const piece = fc.oneof(
      word.map((text) => ({ kind: 'word' as const, text: text.replaceAll(/["\\]/g, '_') })),
      fc.constantFrom(...escapes).map(([value, text]) => ({ kind: 'escape' as const, value, text })),
      fc.constant({ kind: 'surrogates' as const }),
      fc.record({ kind: fc.constant('fold' as const), emptyBefore: fc.nat(2), indent, trailing: blanks }),
      fc.record({ kind: fc.constant('continued' as const), indent }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), eol, (pieces, newline) => {
        const writer = new Writer().raw('v: "').plain('x');
        for (const each of pieces) {
          if (each.kind === 'word') writer.plain(each.text);
          else if (each.kind === 'escape') writer.means(each.value, each.text);
          else if (each.kind === 'surrogates') writer.means('\ud83d', '\\ud83d').means('\ude00', '\\ude00');
          else if (each.kind === 'continued') writer.raw(`\\${newline}${each.indent}`).plain('y');
          else {
            fold(writer, each, newline);
            writer.plain('z');
          }
        }
        writer.raw(`"${newline}`);
        check(writer, 'double');
      }),
      runs,
    );
  });

  const blockLines = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ extra: fc.constantFrom(0, 0, 0, 2), text: word }) },
      { weight: 1, arbitrary: fc.constant({ extra: 0, text: '' }) },
    ),
    { minLength: 1, maxLength: 7 },
  );
  const chomping = fc.constantFrom('', '-', '+');

  it('in literal blocks: indentation, its indicator, chomping', () => {
    fc.assert(
      fc.property(blockLines, chomping, fc.boolean(), fc.nat(2), eol, (lines, chomp, indicator, trailing, newline) => {
        // Without an indicator the first line sets the indentation; it must not be deeper than the rest.
        const first = { extra: indicator ? 2 : 0, text: 'x' };
        const all = [first, ...lines, { extra: 0, text: 'end' }];
        const writer = new Writer().raw(`v: |${indicator ? '2' : ''}${chomp} # note${newline}`);
        all.forEach((line, number) => {
          if (line.text !== '') writer.raw('  ').plain(' '.repeat(line.extra) + line.text);
          if (number < all.length - 1) writer.means('\n', newline);
        });
        closeBlock(writer, chomp, trailing, newline);
        check(writer, 'literal');
      }),
      runs,
    );
  });

  it.each(['|\n', '>-\r\n'])('in a block that ends in the middle of a CRLF: %j', (header) => {
    const source = `a: ${header}  =(1\r`;
    expect(scalarAt(source, 'a').offsetOf(1)).toBe(source.indexOf('('));
  });

  it('in folded blocks: single breaks become spaces, deeper lines keep theirs', () => {
    fc.assert(
      fc.property(blockLines, chomping, fc.nat(2), eol, (lines, chomp, trailing, newline) => {
        const all = [{ extra: 0, text: 'x' }, ...lines, { extra: 0, text: 'end' }].filter(
          (line, number, list) => line.text !== '' || list[number - 1]?.text !== '',
        );
        const writer = new Writer().raw(`v: >${chomp}${newline}`);
        all.forEach((line, number) => {
          const next = all[number + 1];
          if (line.text === '') return;
          writer.raw('  ').plain(' '.repeat(line.extra) + line.text);
          if (next === undefined) return;
          const after = next.text === '' ? all[number + 2] : next;
          const deeper = line.extra > 0 || (after?.extra ?? 0) > 0;
          if (next.text !== '') writer.means(deeper ? '\n' : ' ', newline);
          else if (deeper) writer.means('\n', newline).means('\n', newline);
          else writer.raw(newline).means('\n', newline);
        });
        closeBlock(writer, chomp, trailing, newline);
        const node = scalarAt(writer.source, 'v');
        expect(node.value).toBe(writer.value);
        expect(exactOffsets(node).filter((_, index) => writer.value[index]?.trim() !== '')).toEqual(
          writer.offsets.filter((_, index) => writer.value[index]?.trim() !== ''),
        );
        expectBreaksAtBreaks(node, writer.source);
      }),
      runs,
    );
  });

  function closeBlock(writer: Writer, chomp: string, trailing: number, newline: string): void {
    if (chomp === '-') writer.raw(newline + newline.repeat(trailing));
    else {
      writer.means('\n', newline);
      for (let empty = 0; empty < trailing; empty += 1) {
        if (chomp === '+') writer.means('\n', newline);
        else writer.raw(newline);
      }
    }
    writer.raw('last: 1');
  }

  function expectBreaksAtBreaks(node: ScalarNode, source: string): void {
    exactOffsets(node).forEach((offset, index) => {
      const character = String(node.value)[index];
      if (character === '\n') expect(source[offset]).toMatch(/[\r\n]/);
    });
  }
});

describe('offsetOf of what the library writes', () => {
  const anyText = fc.string({ unit: fc.constantFrom(...'ab é日😀\n\n\t "\'\\#:-=$[]{},&*!|>%@`'), maxLength: 40 });
  const styles = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const;

  it.each(styles)('points at the character, its escape or its break: %s', (defaultStringType) => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(0, 20, 30), (written, lineWidth) => {
        const source = stringify(
          { v: written, last: 1 },
          { defaultStringType, defaultKeyType: 'PLAIN', lineWidth, minContentWidth: 0 },
        );
        const node = scalarAt(source, 'v');
        const text = String((parse(source) as { v: string }).v);
        expect(node.value).toBe(text);
        let previous = node.range.start - 1;
        text.split('').forEach((character, index) => {
          const offset = node.offsetOf(index);
          const there = source[offset] ?? '';
          expect(offset).toBeGreaterThanOrEqual(previous);
          previous = offset;
          if (there === character) return;
          const isEscape = node.style === 'double' && there === '\\';
          const isBreak = /\s/.test(character) && /[\r\n]/.test(there);
          expect({ character, there, ok: isEscape || isBreak }).toMatchObject({ ok: true });
        });
        if (text !== '') expect(node.offsetOf(text.length)).toBeGreaterThan(node.range.start);
        expect(node.offsetOf(text.length)).toBeLessThanOrEqual(source.length);
      }),
      runs,
    );
  });
});
