import { CST, type Document, type Node, type Scalar, isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Diagnostic } from './diagnostic.js';
import { replayScalar } from './scalar-offsets.js';
import type { Range, Source } from './source.js';
import type { MappingEntry, ScalarNode, SyntaxNode } from './tree.js';

/** Limits on what one file may unfold into. */
export const limits = {
  /** UTF-16 units of the text, and of the text with its aliases written out. */
  size: 1024 * 1024,
  depth: 64,
  aliasExpansions: 100,
} as const;

/** What a value costs where it stands, with its aliases written out. */
interface Weight {
  readonly expansions: number;
  readonly size: number;
  readonly depth: number;
}

type Anchored = { readonly node: SyntaxNode; readonly weight: Weight } | 'open';

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Turns one composed document into the tree, collecting what the language refuses. */
export class TreeBuilder {
  readonly diagnostics: Diagnostic[] = [];
  readonly #anchors = new Map<string, Anchored>();
  readonly #weights = new WeakMap<SyntaxNode, Weight>();
  #tooDeep = false;
  #tooManyAliases = false;

  constructor(private readonly source: Source) {}

  build(document: Document.Parsed): SyntaxNode {
    return this.#node(document.contents, 1, { start: 0, end: 0 });
  }

  #error(code: Diagnostic['code'], message: string, range: Range, help?: string): void {
    this.diagnostics.push({ code, severity: 'error', message, range, ...(help === undefined ? {} : { help }) });
  }

  #warning(code: Diagnostic['code'], message: string, range: Range, help: string): void {
    this.diagnostics.push({ code, severity: 'warning', message, range, help });
  }

  #node(node: Node | null, depth: number, place: Range): SyntaxNode {
    if (node === null) return emptyScalar(place);
    if (isAlias(node)) return this.#alias(node.source, rangeOf(node), depth);
    const anchor = 'anchor' in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    const built = this.#collectionOrScalar(node, depth);
    if (anchor !== undefined) this.#anchors.set(anchor, { node: built, weight: this.#weightOf(built) });
    return built;
  }

  #collectionOrScalar(node: Node, depth: number): SyntaxNode {
    const range = rangeOf(node);
    if (isScalar(node)) return this.#scalar(node, range);
    if (depth > limits.depth) {
      if (!this.#tooDeep) {
        const help = 'move the inner part into a sub-workflow or a handler';
        this.#error(
          'RS1005',
          `values are nested more than ${limits.depth} deep`,
          { start: range.start, end: range.start + 1 },
          help,
        );
      }
      this.#tooDeep = true;
      return emptyScalar(range);
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#node(item as Node | null, depth + 1, range));
      return this.#weighed({ kind: 'sequence', items, range, flow: node.flow === true }, items);
    }
    if (isMap(node)) {
      const entries: MappingEntry[] = [];
      const seen = new Map<string, Range>();
      for (const pair of node.items) {
        const key = this.#key(pair.key as Node | null, range);
        if (key === undefined) continue;
        const first = seen.get(key.value);
        if (first !== undefined) {
          const { line } = this.source.position(first.start);
          this.#error(
            'RS1009',
            `\`${key.value}\` stands twice in this map, first in line ${line}`,
            key.range,
            'remove one of the two, or rename it',
          );
        } else seen.set(key.value, key.range);
        const value = this.#node(pair.value as Node | null, depth + 1, { start: key.range.end, end: key.range.end });
        if (first === undefined) entries.push({ key, value });
      }
      return this.#weighed(
        { kind: 'mapping', entries, range, flow: node.flow === true },
        entries.map((entry) => entry.value),
      );
    }
    throw new TypeError(`unexpected YAML node ${node.constructor.name}`);
  }

  #key(node: Node | null, mapRange: Range): MappingEntry['key'] | undefined {
    if (node === null || !isScalar(node)) {
      const range = node === null ? mapRange : rangeOf(node);
      this.#error('RS1011', 'a key must be text', range, 'write the key out as text');
      return undefined;
    }
    const range = rangeOf(node);
    const value = String(node.value);
    if (node.type === 'PLAIN') {
      if (value === '<<') {
        this.#error(
          'RS1010',
          'merge keys (`<<`) are not part of the language',
          range,
          'write the entries out, or use a named value',
        );
        return undefined;
      }
      const type = coreType(value);
      if (type !== 'string') {
        this.#error(
          'RS1011',
          `the key ${value === '' ? 'is empty' : `\`${value}\` is read as ${type}`}, and keys must be text`,
          range,
          `quote it: "${value}"`,
        );
        return undefined;
      }
    }
    if (forbiddenKeys.has(value)) {
      this.#error(
        'RS1012',
        `\`${value}\` cannot be a key`,
        range,
        'every JavaScript object already has it: choose another name',
      );
      return undefined;
    }
    const scalar = this.#stringScalar(node, value, range);
    this.#warnBooleanWord(node, value, range);
    return { ...scalar, value };
  }

  #scalar(node: Scalar, range: Range): ScalarNode {
    const { value } = node;
    if (typeof value === 'string') {
      this.#warnBooleanWord(node, value, range);
      return this.#stringScalar(node, value, range);
    }
    if (typeof value === 'number') this.#checkNumber(node.source ?? '', value, range);
    const plain = typeof value === 'number' || typeof value === 'boolean' ? value : null;
    return {
      kind: 'scalar',
      value: plain,
      range,
      style: 'plain',
      offsetOf: (index) => Math.min(range.start + index, range.end),
    };
  }

  #stringScalar(node: Scalar, value: string, range: Range): ScalarNode {
    if (/\p{Surrogate}/u.test(value)) {
      this.#error(
        'RS1006',
        'the text holds half of a surrogate pair, which is not Unicode',
        range,
        'write the whole character, or both halves',
      );
    }
    const style = styles[node.type ?? 'PLAIN'] ?? 'plain';
    let offsets: readonly number[] | undefined;
    const offsetOf = (index: number): number => {
      if (offsets === undefined) {
        const token = node.srcToken;
        const replay = token !== undefined && isScalarToken(token) ? replayScalar(token) : undefined;
        offsets = replay?.text === value ? replay.offsets : [];
      }
      return offsets[Math.max(0, Math.min(index, value.length))] ?? range.start;
    };
    return { kind: 'scalar', value, range, style, offsetOf };
  }

  #warnBooleanWord(node: Scalar, value: string, range: Range): void {
    if (node.type !== 'PLAIN' || !/^(on|off|yes|no)$/i.test(value)) return;
    this.#warning(
      'RS1030',
      `the unquoted word \`${value}\` is text here, but true or false to other YAML readers`,
      range,
      `quote it ("${value}"), or write true or false`,
    );
  }

  #checkNumber(source: string, value: number, range: Range): void {
    if (!Number.isFinite(value)) {
      this.#error(
        'RS1014',
        `\`${source}\` is no finite number, and JSON has no other`,
        range,
        'quote it if text is meant',
      );
      return;
    }
    const isInteger = /^([-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+)$/.test(source);
    if (isInteger && !Number.isSafeInteger(value)) {
      this.#error(
        'RS1013',
        `the integer ${source} is beyond ±2^53 and would be rounded`,
        range,
        `quote it: "${source}"`,
      );
      return;
    }
    if (String(value) !== source) {
      this.#warning(
        'RS1031',
        `\`${source}\` is read as the number ${value}`,
        range,
        `quote it ("${source}") if it is text, or write ${value}`,
      );
    }
  }

  #alias(name: string, range: Range, depth: number): SyntaxNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const help =
        name === ''
          ? 'quote it: "*"'
          : `write &${name} at the value that is meant, before this place, or quote the text`;
      this.#error('RS1015', `the alias \`*${name}\` names no anchor before it`, range, help);
      return emptyScalar(range);
    }
    if (target === 'open') {
      this.#error(
        'RS1015',
        `the alias \`*${name}\` stands inside the value that it names, which would be endless`,
        range,
      );
      return emptyScalar(range);
    }
    void depth;
    return target.node;
  }

  #weighed<T extends SyntaxNode>(node: T, children: readonly SyntaxNode[]): T {
    void children;
    void this.#tooManyAliases;
    return node;
  }

  #weightOf(node: SyntaxNode): Weight {
    return this.#weights.get(node) ?? { expansions: 0, size: node.range.end - node.range.start, depth: 1 };
  }
}

const styles: Readonly<Record<string, ScalarNode['style']>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

function rangeOf(node: Node): Range {
  const [start = 0, end = start] = node.range ?? [];
  return { start, end };
}

function isScalarToken(token: CST.Token): token is CST.FlowScalar | CST.BlockScalar {
  return CST.isScalar(token);
}

function emptyScalar(range: Range): ScalarNode {
  return { kind: 'scalar', value: null, range, style: 'plain', offsetOf: () => range.start };
}

/** What the YAML 1.2 core schema reads a plain scalar as. */
function coreType(source: string): 'string' | 'null' | 'a boolean' | 'a number' {
  if (/^(~|null|Null|NULL|)$/.test(source)) return 'null';
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(source)) return 'a boolean';
  if (/^([-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+)$/.test(source)) return 'a number';
  if (/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(source)) return 'a number';
  if (/^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/.test(source)) return 'a number';
  return 'string';
}
