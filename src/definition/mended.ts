import type { MappingEntry, ScalarNode, SyntaxNode } from '../syntax/index.js';

/** An entry under another key, where the file has the misspelt one. */
export function withKey(entry: MappingEntry, key: string): MappingEntry {
  return { ...entry, key: { ...entry.key, value: key, offsetOf: (index) => entry.key.offsetOf(index) } };
}

/**
 * The tree as its author meant it: misspelt keys replaced, so that one of them does not make everything under it
 * unknown to the checks that follow. What is shared by aliases stays shared.
 */
export function mended(root: SyntaxNode, renamed: ReadonlyMap<ScalarNode, string>): SyntaxNode {
  if (renamed.size === 0) return root;
  const known = new Map<SyntaxNode, SyntaxNode>();
  const mend = (node: SyntaxNode): SyntaxNode => {
    const done = known.get(node);
    if (done !== undefined) return done;
    const result = mendedInside(node);
    known.set(node, result);
    return result;
  };
  const mendedInside = (node: SyntaxNode): SyntaxNode => {
    if (node.kind === 'scalar') return node;
    if (node.kind === 'sequence') return { ...node, items: node.items.map(mend) };
    const entries = node.entries.map((entry) => {
      const key = renamed.get(entry.key);
      const inside = { ...entry, value: mend(entry.value) };
      return key === undefined ? inside : withKey(inside, key);
    });
    return { ...node, entries };
  };
  return mend(root);
}
