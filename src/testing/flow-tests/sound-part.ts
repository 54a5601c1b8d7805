import {
  type Diagnostic,
  type MappingNode,
  type Range,
  type SyntaxNode,
  entryOf,
  toValue,
} from '../../syntax/index.js';
import type { FlowTestDocument } from './document.generated.js';

/** What can be checked further of a file with mistakes. */
export interface SoundPart {
  readonly root: SyntaxNode;
  readonly document: FlowTestDocument;
}

/**
 * The file without the tests whose shape has mistakes, so that the others are held against the flow nevertheless.
 * Undefined where the mistakes are in what all tests share.
 */
export function soundPart(root: SyntaxNode, diagnostics: readonly Diagnostic[]): SoundPart | undefined {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ range }) => range);
  const tests = entryOf(root, 'tests')?.value;
  if (root.kind !== 'mapping' || tests?.kind !== 'sequence') return undefined;
  const isSound = (node: SyntaxNode): boolean => !errors.some((error) => isWithin(error, node.range));
  const shared = ['workflow', 'now', 'defaults'].flatMap((key) => entryOf(root, key)?.value ?? []);
  const items = tests.items.filter((node) => node.kind === 'mapping' && isSound(node));
  if (!shared.every(isSound) || entryOf(root, 'workflow') === undefined || items.length === 0) return undefined;
  const known = ['workflow', 'now', 'defaults'];
  const entries = root.entries.flatMap((entry) => {
    if (entry.key.value === 'tests') return [{ ...entry, value: { ...tests, items } }];
    return known.includes(entry.key.value) ? [entry] : [];
  });
  const sound: MappingNode = { ...root, entries };
  return { root: sound, document: toValue(sound) as unknown as FlowTestDocument };
}

/**
 * The mistakes of each test, by its place in the list, where all of them lie inside of tests: then the others can be
 * run. Undefined where something that all tests share has a mistake.
 */
export function mistakesByTest(
  root: SyntaxNode,
  diagnostics: readonly Diagnostic[],
): ReadonlyMap<number, readonly Diagnostic[]> | undefined {
  const tests = entryOf(root, 'tests')?.value;
  if (root.kind !== 'mapping' || tests?.kind !== 'sequence') return undefined;
  const mistakes = new Map<number, Diagnostic[]>();
  for (const each of diagnostics.filter(({ severity }) => severity === 'error')) {
    const index = tests.items.findIndex((node) => isWithin(each.range, node.range));
    if (index < 0) return undefined;
    mistakes.set(index, [...(mistakes.get(index) ?? []), each]);
  }
  return mistakes;
}

function isWithin(inner: Range, outer: Range): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}
