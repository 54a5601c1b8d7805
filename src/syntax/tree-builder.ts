import type { CST, Document, Node, Scalar, YAMLMap } from 'yaml';
import type { Diagnostic } from './diagnostic.js';
import { limits } from './limits.js';
import { emptyScalar, textScalar, wordScalar } from './scalar-nodes.js';
import type { WrittenScalar } from './scalar-offsets.js';
import * as rules from './scalar-rules.js';
import type { Range, Source } from './source.js';
import type { MappingEntry, MappingNode, ScalarNode, SyntaxNode, TextNode } from './tree.js';
import { yamlLibrary } from './yaml-library.js';

/** An anchored value, or `open` while it is still being read. */
type Anchored = 'open' | { readonly node: SyntaxNode; readonly expansions: number; readonly added: number };

/** Turns one composed document into the tree, collecting what the language refuses in it. */
export class TreeBuilder {
  readonly #yaml = yamlLibrary();
  readonly diagnostics: Diagnostic[] = [];
  readonly #anchors = new Map<string, Anchored>();
  readonly #heights = new WeakMap<SyntaxNode, number>();
  readonly #reportedOnce = new Set<string>();
  /** Copies that the aliases read so far make when written out, and the text that they add. */
  #expansions = 0;
  #added = 0;

  /** `masked`: what was read as mere words, and stands in the tree as it was written. */
  constructor(
    private readonly source: Source,
    private readonly masked: readonly Range[] = [],
  ) {}

  build(document: Document.Parsed): SyntaxNode {
    return this.#node(document.contents, 1, { start: 0, end: 0 });
  }

  #node(node: Node | null, depth: number, place: Range): SyntaxNode {
    if (node === null) return emptyScalar(place);
    if (this.#yaml.isAlias(node)) return this.#alias(node.source, rangeOf(node), depth);
    const anchor = 'anchor' in node ? node.anchor : undefined;
    if (anchor === undefined) return this.#unanchored(node, depth, place);
    const [expansions, added] = [this.#expansions, this.#added];
    this.#anchors.set(anchor, 'open');
    const built = this.#unanchored(node, depth, place);
    this.#anchors.set(anchor, {
      node: built,
      expansions: this.#expansions - expansions,
      added: this.#added - added,
    });
    return built;
  }

  /** `place` is where a value is shown that is not there. */
  #unanchored(node: Node, depth: number, place: Range): SyntaxNode {
    const range = rangeOf(node);
    if (this.#yaml.isScalar(node)) return range.start === range.end ? emptyScalar(place) : this.#scalar(node, range);
    if (this.#yaml.isMap(node)) return this.#mapping(node, range, depth);
    if (this.#yaml.isSeq(node)) {
      const items = node.items.flatMap((item) => {
        if (this.#yaml.isMap(item) && item.anchor === undefined) return this.#itemMaps(item, rangeOf(item), depth + 1);
        return [this.#node(item as Node | null, depth + 1, this.#dashBefore(item, range))];
      });
      return this.#measured({ kind: 'sequence', items, range, flow: node.flow === true }, items);
    }
    throw new TypeError(`unexpected YAML node ${node.constructor.name}`);
  }

  /** The `-` of an item that holds nothing. */
  #dashBefore(item: unknown, list: Range): Range {
    if (!this.#yaml.isScalar(item) || item.range == null || item.range[0] !== item.range[1]) return list;
    const dash = this.source.text.lastIndexOf('-', item.range[0]);
    return dash < list.start ? list : { start: dash, end: dash + 1 };
  }

  #mapping(node: YAMLMap, range: Range, depth: number): MappingNode {
    return this.#mappingOf(node, node.items, range, depth);
  }

  /** Several where a map begins again with its first key, since the `-` of a new item was forgotten. */
  #itemMaps(node: YAMLMap, range: Range, depth: number): MappingNode[] {
    const [first] = node.items;
    const key = keyText(first);
    const starts = node.items.flatMap((pair, index) => (index === 0 || keyText(pair) === key ? [index] : []));
    if (key === undefined || node.flow === true || starts.length === 1) return [this.#mapping(node, range, depth)];
    return starts.map((start, nth) => {
      const pairs = node.items.slice(start, starts[nth + 1]);
      const place = rangeOf(pairs[0]?.key as Node);
      if (nth > 0) {
        const help = `write \`- ${key}: …\` if a new item begins here; else remove one of the two`;
        this.diagnostics.push(this.#duplicate({ value: key, range: place }, rangeOf(first?.key as Node), help));
      }
      return this.#mappingOf(node, pairs, nth === 0 ? range : { start: place.start, end: range.end }, depth);
    });
  }

  #mappingOf(node: YAMLMap, pairs: YAMLMap['items'], range: Range, depth: number): MappingNode {
    const entries = new Map<string, MappingEntry>();
    const add = (entry: MappingEntry): void => {
      const first = entries.get(entry.key.value);
      entries.set(entry.key.value, first === undefined ? entry : joined(first, entry));
    };
    const merged: MappingEntry[] = [];
    for (const pair of pairs) {
      const key = this.#key(pair.key as Node | null, range);
      const value = this.#node(pair.value as Node | null, depth + 1, key?.range ?? range);
      // As a member of an object `__proto__` would be none.
      if (key === undefined || key.value === '__proto__') continue;
      if (key.value === '<<' && key.style === 'plain') {
        if (value.kind === 'mapping') merged.push(...value.entries);
        continue;
      }
      if (pair.value === null) this.diagnostics.push(rules.noValueProblem(key.value, key.range));
      const first = entries.get(key.value);
      if (first !== undefined) this.diagnostics.push(this.#duplicate(key, first.key.range));
      add({ key, value });
    }
    for (const entry of merged) if (!entries.has(entry.key.value)) entries.set(entry.key.value, entry);
    const all = [...entries.values()];
    return this.#measured(
      { kind: 'mapping', entries: all, range, flow: node.flow === true },
      all.map((entry) => entry.value),
    );
  }

  #duplicate(key: { value: string; range: Range }, first: Range, help = 'remove or rename one of the two'): Diagnostic {
    const lines = [first, key.range].map((range) => this.source.position(range.start).line);
    return {
      code: 'RS1009',
      severity: 'error',
      message: `the key \`${key.value}\` stands twice in one map, in line ${lines[0]} and in line ${lines[1]}`,
      range: key.range,
      help,
    };
  }

  /** Undefined where it is no key at all, which is then reported. */
  #key(node: Node | null, mapRange: Range): MappingEntry['key'] | undefined {
    if (node === null || !this.#yaml.isScalar(node)) {
      const range = node === null ? { start: mapRange.start, end: mapRange.start + 1 } : rangeOf(node);
      const help = 'write the key out as text';
      this.diagnostics.push({ code: 'RS1011', severity: 'error', message: 'a key must be text', range, help });
      return undefined;
    }
    const place = rangeOf(node);
    // A key that is not there is shown at its colon.
    const range = place.end > place.start ? place : { start: place.start, end: place.start + 1 };
    const value = String(node.value);
    this.#report(rules.keyProblem(value, node.type === 'PLAIN', range));
    return this.#text(node, value, 'key', range);
  }

  #scalar(node: Scalar, range: Range): ScalarNode {
    const { value } = node;
    if (typeof value === 'string') return this.#text(node, value, 'value', range);
    if (typeof value === 'number') this.#report(rules.numberProblem(node.source ?? '', value, range));
    // JSON has no negative zero.
    return wordScalar(typeof value === 'number' ? value + 0 : typeof value === 'boolean' ? value : null, range);
  }

  #text(node: Scalar, value: string, role: 'key' | 'value', range: Range): TextNode {
    const style = styles[node.type ?? 'PLAIN'] ?? 'plain';
    const text = textScalar(value, range, style, writtenScalar(node.srcToken));
    if (this.masked.some(({ start, end }) => start <= range.start && range.end <= end)) {
      return { ...text, value: this.#asWritten(text) };
    }
    this.#report(rules.unicodeProblem(value, range));
    if (style === 'plain') this.#report(rules.booleanWordProblem(value, role, range));
    const cutOffBy = style === 'plain' && role === 'value' ? this.#cutOff(value, range) : undefined;
    if (cutOffBy === undefined) return text;
    this.diagnostics.push(rules.cutOffProblem(cutOffBy));
    return { ...text, cutOffBy };
  }

  /** The text in whose place `_` was read. */
  #asWritten(masked: TextNode): string {
    return masked.value.replaceAll('_', (_, index: number) => this.source.text[masked.offsetOf(index)] ?? '_');
  }

  #cutOff(value: string, range: Range): Range | undefined {
    if (!value.startsWith('=') && !value.includes('$')) return undefined;
    cutOffComment.lastIndex = range.end;
    const [, blanks = '', comment] = cutOffComment.exec(this.source.text) ?? [];
    if (comment === undefined) return undefined;
    const start = range.end + blanks.length;
    return { start, end: start + comment.trimEnd().length };
  }

  #alias(name: string, range: Range, depth: number): SyntaxNode {
    const target = this.#anchors.get(name);
    if (target === undefined || target === 'open') {
      const endless = target === 'open';
      this.diagnostics.push({
        code: 'RS1015',
        severity: 'error',
        message: endless
          ? `the alias \`*${name}\` stands inside the value that it names, which would be endless`
          : `no anchor \`&${name}\` stands before this alias`,
        range,
        help: endless
          ? 'write the value out'
          : /^\w+$/.test(name)
            ? `mark the value that is meant with &${name}, or quote the text: "*${name}"`
            : `quote it, since it is text: "*${name}"`,
      });
      return { kind: 'scalar', value: `*${name}`, range, style: 'plain', offsetOf: (index) => range.start + index };
    }
    this.#expansions += 1 + target.expansions;
    this.#added += target.node.range.end - target.node.range.start + target.added;
    const over = this.#overLimit(depth, target.node);
    if (over === undefined) return target.node;
    if (!this.#reportedOnce.has(over.code)) {
      this.#reportedOnce.add(over.code);
      this.diagnostics.push({ ...over, severity: 'error', range, help: 'let a handler build what is this large' });
    }
    return emptyScalar(range);
  }

  #overLimit(depth: number, node: SyntaxNode): Pick<Diagnostic, 'code' | 'message'> | undefined {
    if (this.#expansions > limits.aliasExpansions) {
      return { code: 'RS1016', message: `aliases make more than ${limits.aliasExpansions} copies up to here` };
    }
    if (Buffer.byteLength(this.source.text) + this.#added > limits.bytes) {
      return { code: 'RS1004', message: 'with its aliases written out the file is larger than 1 MiB' };
    }
    if (depth - 1 + this.#heightOf(node) > limits.depth) {
      return {
        code: 'RS1005',
        message: `with this alias written out values are nested more than ${limits.depth} deep`,
      };
    }
    return undefined;
  }

  #measured<T extends SyntaxNode>(node: T, children: readonly SyntaxNode[]): T {
    this.#heights.set(node, 1 + children.reduce((height, child) => Math.max(height, this.#heightOf(child)), 0));
    return node;
  }

  #heightOf(node: SyntaxNode): number {
    return this.#heights.get(node) ?? 0;
  }

  #report(diagnostic: Diagnostic | undefined): void {
    if (diagnostic !== undefined) this.diagnostics.push(diagnostic);
  }
}

/** What ends an unquoted formula on its line. */
const cutOffComment = /([ \t]+)(#\$.*)/y;

const styles: Readonly<Record<string, ScalarNode['style']>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

function writtenScalar(token: CST.Token | undefined): WrittenScalar | undefined {
  switch (token?.type) {
    case 'scalar':
      return { style: 'plain', source: token.source, offset: token.offset };
    case 'single-quoted-scalar':
      return { style: 'single', source: token.source, offset: token.offset };
    case 'double-quoted-scalar':
      return { style: 'double', source: token.source, offset: token.offset };
    case 'block-scalar':
      return writtenBlock(token);
    default:
      return undefined;
  }
}

function writtenBlock({ props, offset, source, indent }: CST.BlockScalar): WrittenScalar {
  const [first] = props;
  const header = first !== undefined && 'source' in first ? first.source : '|';
  return {
    style: header.startsWith('>') ? 'folded' : 'literal',
    header,
    source,
    offset: props.reduce((end, prop) => end + ('source' in prop ? prop.source.length : 0), offset),
    indent,
  };
}

function keyText(pair: YAMLMap['items'][number] | undefined): string | undefined {
  const key = pair?.key;
  return yamlLibrary().isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
}

/** What two entries of one key say together, so that nothing under either of them is taken for missing. */
function joined(first: MappingEntry, second: MappingEntry): MappingEntry {
  const [a, b] = [first.value, second.value];
  if (a.kind === 'sequence' && b.kind === 'sequence')
    return { ...first, value: { ...a, items: [...a.items, ...b.items] } };
  if (a.kind !== 'mapping' || b.kind !== 'mapping') return first;
  const entries = a.entries.map((entry) => {
    const other = b.entries.find(({ key }) => key.value === entry.key.value);
    return other === undefined ? entry : joined(entry, other);
  });
  const added = b.entries.filter(({ key }) => a.entries.every((entry) => entry.key.value !== key.value));
  return { ...first, value: { ...a, entries: [...entries, ...added] } };
}

function rangeOf(node: Node): Range {
  const [start = 0, end = start] = node.range ?? [];
  return { start, end };
}
