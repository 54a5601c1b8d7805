import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readPlain } from '../../../src/syntax/plain-reader/index.js';
import { mutants } from '../../check/fuzz/mutants.js';
import { manual, root } from '../../docs/manual.js';
import { type Comparison, compare } from './both-readers.js';
import { anyDocuments, anyPieces } from './random-texts.js';

const yamlFiles = ['definitions', 'templates', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('what is written in the repository is read as the library reads it', () => {
  it('every file', () => {
    const compared = yamlFiles.map((file) => ({ file, comparison: compare(textOf(file)) }));
    expect(compared.filter(({ comparison }) => typeof comparison === 'object')).toEqual([]);
    expect(compared.filter(({ comparison }) => comparison === 'equal').length).toBeGreaterThan(compared.length / 2);
  });

  it('every block of the manual', () => {
    const blocks = manual().flatMap((page) => page.blocks.filter(({ language }) => language === 'yaml'));
    const compared = blocks.map(({ text }) => compare(text));
    expect(compared.filter((comparison) => typeof comparison === 'object')).toEqual([]);
    expect(compared.filter((comparison) => comparison === 'equal').length).toBeGreaterThan(compared.length * 0.9);
  });

  it('all real flows and their tests, but for those with anchors, without the library', () => {
    const own = yamlFiles.filter((file) => /^(definitions|templates)\/.*\.(yaml|json)$/.test(file));
    const hasAnchor = (file: string): boolean => /(: |- )[&*]\w/.test(textOf(file));
    expect(own.filter((file) => compare(textOf(file)) !== 'equal')).toEqual(own.filter(hasAnchor));
  });
});

/** More by hand: `FUZZ_RUNS=1000000 FUZZ_SEED=5 npx vitest run test/syntax/plain-reader`. */
const runsByHand = process.env.FUZZ_RUNS;
const firstSeed = Number(process.env.FUZZ_SEED ?? 1);
const chunk = 500;

describe('the plain reader gives up, or gives the tree that the library leads to and that nothing is said of', () => {
  it.each([
    { what: 'documents', texts: anyDocuments, runs: 6_000, mostlyGivenUp: false },
    { what: 'pieces of YAML', texts: anyPieces, runs: 10_000, mostlyGivenUp: true },
    { what: 'mutants of the real flows', texts: mutants.map(({ text }) => text), runs: 300, mostlyGivenUp: false },
  ])('$what', { timeout: 24 * 3_600_000 }, ({ texts, runs: usual, mostlyGivenUp }) => {
    const runs = Number(runsByHand ?? usual);
    const faults: Comparison[] = [];
    let equal = 0;
    for (let done = 0; done < runs && faults.length < 5; done += chunk) {
      const numRuns = Math.min(runs - done, chunk);
      for (const text of fc.sample(texts, { seed: firstSeed + done / chunk, numRuns })) {
        const comparison = compare(text);
        if (comparison === 'equal') equal += 1;
        else if (comparison !== 'left to the library') faults.push(comparison);
      }
    }
    expect(faults).toEqual([]);
    // To give up on everything would be right, and of no use.
    expect(equal).toBeGreaterThan(runs * (mostlyGivenUp ? 0.01 : 0.3));
  });
});

describe('left to the library is', () => {
  it.each([
    ['anchors and aliases', 'a: &x 1\nb: *x\n'],
    ['tags', 'a: !x 1\n'],
    ['directives', '%YAML 1.2\n---\na: 1\n'],
    ['marks of documents', '---\na: 1\n'],
    ['tabs', 'a:\t1\n'],
    ['CRLF', 'a: 1\r\n'],
    ['explicit keys', '? a\n: 1\n'],
    ['scalars over several lines', 'a: b\n  c\n'],
    ['quotes over several lines', 'a: "b\n  c"\n'],
    ['documents that are no collection', 'a\n'],
    ['maps within brackets', '[a: 1]\n'],
    ['a key that stands twice', 'a: 1\na: 2\n'],
    ['a key that is no text', '1: a\n'],
    ['a key of every object', 'constructor: 1\n'],
    ['words that others take for true or false', 'a: no\n'],
    ['numbers that are not printed as they are written', 'a: 1.10\n'],
    ['a formula that a comment cuts off', 'a: =$orders #$i\n'],
    ['a formula that a bracket cuts off', 'a: { b: =$x[0] }\n'],
    ['a formula that a comma cuts off', 'a: [=f(1, 2)]\n'],
    ['a formula with a colon', 'a: =$a ? 1 : 2\n'],
    ['halves of surrogate pairs', 'a: "\\ud800"\n'],
    ['an entry that is indented like none before', 'a:\n    b: 1\n  c: 1\n'],
    ['an empty text', ''],
  ])('%s', (_, text) => {
    expect(compare(text)).toBe('left to the library');
  });
});

describe('read without the library is', () => {
  it.each([
    ['a list at the indentation of its key', 'a:\n- b\n- c\nd: 1\n'],
    ['a list in a list', '- - a\n  - b\n-   - c\n'],
    ['a map that begins behind a dash', '- a: 1\n  b: 2\n- a: 3\n'],
    ['values that are not there', 'a:\nb:\n  -\n  - # none\nc:\n'],
    ['comments of any depth', '# a\na: # b\n  # c\n  b: 1 # d\n      # e\n # f\n\nc: 2\n# g'],
    ['quotes with escapes', 'a: "\\u00e9\\n\\"\\x41\\\\ü"\nb: \'it\'\'s\'\n"c": 1\n'],
    ['brackets over several lines', 'a: [ # b\n    1,\n\n  # c\n    { d: =$x, "e":2, },\n]\nf: {}\n'],
    ['blocks of text', 'a: |\n  b\n\n    c\n\nd: >2-\n   e\n   f\ng: |+ # h\n  i\n\n'],
    ['a block of text at the end of a file without a line break', 'a: >-\n  b\n  c'],
    ['JSON', '{"a": [1, -2.5, true, null, "\\u0041"], "b": {"c": ""}}'],
    ['characters of any width', 'é: 漢👍\n'],
    ['formulas', 'a: =$x > 1 and $y[0] = "b"\nb: { c: =$round($x), d: =$x.y }\n'],
  ])('%s', (_, text) => {
    expect(compare(text)).toBe('equal');
  });
});

/** Texts whose reading took minutes, or more stack than there is, if time grew with the square of the length. */
test('texts that are made to be slow', () => {
  const length = 1_000_000;
  const repeated = (piece: string): string => piece.repeat(length / piece.length);
  const givenUp = [
    repeated('['),
    repeated('{ a: '),
    repeated('- '),
    `a: [${repeated('=(, ')}]`,
    `a: b${repeated(' :b')}: c`,
  ];
  const read = [
    ...['-\n', '- a # b\n', '- # c\n', '- "b"\n'].map(repeated),
    ...[' \n', '# c\n', '    # c\n'].map((piece) => `a: b\n${repeated(piece)}`),
    `a: [${repeated("=\\', ")}]`,
    `a: "${repeated('\\n')}"`,
    `a: b${repeated(' :b')}`,
    `a: |\n  b\n${repeated('    \n')}c: 1\n`,
    `a: b${repeated(' ')}\n`,
  ];
  expect(givenUp.map((text) => readPlain(text) === undefined)).toEqual(givenUp.map(() => true));
  expect(read.map((text) => readPlain(text) === undefined)).toEqual(read.map(() => false));
});
