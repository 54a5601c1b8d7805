import type { JsonValue } from '../common/index.js';
import type { Range } from './source.js';

/**
 * A parsed document: plain values with the place they came from. The YAML library's own nodes stay
 * inside `library-reader.ts`. An aliased value is the anchored node itself, so its range is the anchored text.
 */
export type SyntaxNode = ScalarNode | SequenceNode | MappingNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  readonly range: Range;
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded';
  /**
   * The comment (`#$…`) that ends an unquoted formula on its line. A warning by itself (RS1032); who finds that
   * what is left does not compile says so in one error instead.
   */
  readonly cutOffBy?: Range;
  /**
   * The source offset of character `index` of a string value (`index` = its length gives the end).
   * Exact inside quotes, escapes, continuations and block scalars.
   */
  offsetOf(index: number): number;
}

/** A scalar that holds a text. */
export type TextNode = ScalarNode & { readonly value: string };

export interface SequenceNode {
  readonly kind: 'sequence';
  readonly items: readonly SyntaxNode[];
  readonly range: Range;
  readonly flow: boolean;
}

export interface MappingNode {
  readonly kind: 'mapping';
  readonly entries: readonly MappingEntry[];
  readonly range: Range;
  readonly flow: boolean;
}

export interface MappingEntry {
  readonly key: TextNode;
  readonly value: SyntaxNode;
}

/** Where something stands in a document: keys and indices from the root. */
export type Path = readonly (string | number)[];

export function isText(node: SyntaxNode | undefined): node is TextNode {
  return node?.kind === 'scalar' && typeof node.value === 'string';
}

/** The text that a node holds, if it is one. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  return isText(node) ? node.value : undefined;
}

export function entryOf(node: SyntaxNode | undefined, key: string): MappingEntry | undefined {
  return node?.kind === 'mapping' ? node.entries.find((entry) => entry.key.value === key) : undefined;
}

export function nodeAt(root: SyntaxNode, path: Path): SyntaxNode | undefined {
  let node: SyntaxNode | undefined = root;
  for (const segment of path) {
    node =
      typeof segment === 'number' && node?.kind === 'sequence'
        ? node.items[segment]
        : entryOf(node, String(segment))?.value;
    if (node === undefined) return undefined;
  }
  return node;
}

/** The plain value; objects have no prototype surprises since keys such as `__proto__` are refused by the parser. */
export function toValue(node: SyntaxNode): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'sequence':
      return node.items.map(toValue);
    case 'mapping':
      return Object.fromEntries(node.entries.map((entry) => [entry.key.value, toValue(entry.value)]));
  }
}
