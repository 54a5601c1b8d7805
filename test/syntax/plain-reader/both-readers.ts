import { readByLibrary } from '../../../src/syntax/library-reader.js';
import { readPlain } from '../../../src/syntax/plain-reader/index.js';
import { Source, type SyntaxNode } from '../../../src/syntax/index.js';

/** All that a tree says, as plain data: for each scalar also the places of its characters, and those beyond its ends. */
function contentOf(node: SyntaxNode): unknown {
  const { kind, range } = node;
  switch (node.kind) {
    case 'scalar': {
      const { value, style, cutOffBy, offsetOf } = node;
      const offsets = Array.from({ length: String(value).length + 3 }, (_, index) => offsetOf(index - 1));
      return { kind, range, value, style, cutOffBy, offsets };
    }
    case 'sequence':
      return { kind, range, flow: node.flow, items: node.items.map(contentOf) };
    case 'mapping':
      return {
        kind,
        range,
        flow: node.flow,
        entries: node.entries.map(({ key, value }) => [contentOf(key), contentOf(value)]),
      };
  }
}

export type Comparison =
  /** The plain reader gave up. */
  'left to the library' | 'equal' | { readonly text: string; readonly plain: unknown; readonly library: unknown };

/** Reads a text with both readers. */
export function compare(text: string): Comparison {
  const plain = readPlain(text);
  if (plain === undefined) return 'left to the library';
  const { root, diagnostics } = readByLibrary(new Source('flow.yaml', text));
  const read = { diagnostics: [], root: contentOf(plain) };
  const expected = { diagnostics, root: root === undefined ? undefined : contentOf(root) };
  return JSON.stringify(read) === JSON.stringify(expected) ? 'equal' : { text, plain: read, library: expected };
}
