import { fileURLToPath } from 'node:url';
import { loadHandlers } from 'runsheet';
import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { functionNames, inspectFormula, walkFormula } from '../../src/expression/index.js';
import { HandlerRegistry } from '../../src/handlers/index.js';
import { type Range, type ScalarNode, Source, type SyntaxNode, parseDocument } from '../../src/syntax/index.js';
import { realFlows } from './fuzz/mutants.js';

/** A word of a flow that can be misspelt. */
interface Word {
  readonly kind: 'key' | 'handler' | 'variable' | 'function' | 'step' | 'field';
  readonly word: string;
  readonly range: Range;
}

/** Keys under which data stands, whose own keys are the author's. */
const data = new Set([
  'with',
  'set',
  'output',
  'input',
  'inputSchema',
  'schema',
  'constants',
  'onTimeout',
  'complete',
  'details',
]);
const named = new Set(['parallel', 'retryPolicies', 'labels']);

function wordsOf(root: SyntaxNode): Word[] {
  const words: Word[] = [];
  const visit = (node: SyntaxNode, inData: boolean, inNames: boolean): void => {
    if (node.kind === 'sequence') for (const item of node.items) visit(item, inData, false);
    if (node.kind === 'scalar') words.push(...wordsOfFormula(node));
    if (node.kind !== 'mapping') return;
    for (const { key, value } of node.entries) {
      if (!inData && !inNames) words.push({ kind: 'key', word: key.value, range: key.range });
      if (!inData && key.value === 'step' && value.kind === 'scalar') {
        words.push({ kind: 'handler', word: String(value.value), range: value.range });
      }
      visit(value, inData || (!inNames && data.has(key.value)), !inData && !inNames && named.has(key.value));
    }
  };
  visit(root, false, false);
  return words;
}

function wordsOfFormula(node: ScalarNode): Word[] {
  if (typeof node.value !== 'string' || !node.value.startsWith('=')) return [];
  const inspected = inspectFormula(node.value);
  if (!inspected.ok) return [];
  const words: Word[] = [];
  const add = (kind: Word['kind'], word: string, start: number): void => {
    words.push({ kind, word, range: { start: node.offsetOf(start), end: node.offsetOf(start + word.length) } });
  };
  for (const { node: variable, called } of inspected.free) {
    add(called ? 'function' : 'variable', variable.name, variable.start + 1);
  }
  for (const { id, start } of inspected.steps) add('step', id, start);
  walkFormula(inspected.tree, (each) => {
    if (each.kind !== 'path') return;
    const [first, field] = each.steps;
    const isClosed = first.kind === 'expression' && first.node.kind === 'variable' && !first.node.own;
    if (!isClosed || field?.kind !== 'name') return;
    const name = first.node.kind === 'variable' ? first.node.name : '';
    if (['input', 'constants', 'run', 'workflow', 'error'].includes(name))
      add('field', field.name, field.nameSpan.start);
  });
  return words;
}

/** The word with one letter left out, doubled, or changed places with its neighbour, in its middle. */
function typosOf(word: string): string[] {
  const at = Math.floor((word.length - 1) / 2);
  const [before, letter, after] = [word.slice(0, at), word[at] ?? '', word.slice(at + 1)];
  return [
    before + after,
    before + letter + letter + after,
    before + after.slice(0, 1) + letter + after.slice(1),
  ].filter((typo) => typo !== word && /^[A-Za-z_]/.test(typo));
}

const handlers = new HandlerRegistry(
  await loadHandlers(fileURLToPath(new URL('../../handlers', import.meta.url))),
).catalogue();

/** Too short to be told from other names: what would be offered is a guess. */
const shortest = 3;

/** Of a key or function it is enough to see it misspelt once; steps and fields are each flow's own. */
const tried = new Set<string>();

describe('one wrong letter is one diagnostic that offers the right name', () => {
  test.each([...realFlows])('in %s', (name, text) => {
    const { root } = parseDocument(new Source(name, text));
    if (root === undefined) throw new Error(`${name} cannot be read`);
    const words = wordsOf(root);
    const valid = new Set([...words.map(({ word }) => word), ...functionNames, ...handlers.keys()]);
    const wrong: string[] = [];
    for (const { kind, word, range } of words) {
      const id = `${kind} ${word}${kind === 'step' || kind === 'field' ? ` of ${name}` : ''}`;
      if (word.length < shortest || tried.has(id)) continue;
      tried.add(id);
      for (const typo of typosOf(word)) {
        if (valid.has(typo)) continue;
        const source = new Source(name, text.slice(0, range.start) + typo + text.slice(range.end));
        const { diagnostics } = checkSource(source, { handlers });
        const [first, ...others] = diagnostics;
        const offered = first?.help?.includes(word) === true && first.range.start <= range.start;
        if (offered && others.length === 0) continue;
        const said = diagnostics.map(({ code, message, help }) => `${code} ${message} (${help ?? 'no help'})`);
        wrong.push(`${kind} ${word} as ${typo}: ${said.join('; ') || 'nothing'}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('was tried with many names', () => {
    expect(tried.size).toBeGreaterThan(100);
  });
});
