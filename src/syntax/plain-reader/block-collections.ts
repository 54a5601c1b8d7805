import { limits } from '../limits.js';
import { emptyScalar } from '../scalar-nodes.js';
import type { MappingEntry, MappingNode, SequenceNode, SyntaxNode, TextNode } from '../tree.js';
import { readBlockScalar } from './block-scalars.js';
import { requireDistinctKeys } from './distinct-keys.js';
import { FlowReader } from './flow-collections.js';
import { giveUp } from './not-plain.js';
import { asKey, asValue, readText } from './scalars.js';
import { Scanner } from './scanner.js';

/**
 * What stands before a value: its key or its `-` on the same line, a comment on a line above, or nothing of these. Behind
 * a key no block collection can begin; below a comment only one is plain, since the library takes some comments there
 * for the end of the indentation, and then reads text on into lines that are not deeper.
 */
type Before = 'key' | 'dash' | 'comment' | 'line';

/** The library refuses keys whose colon is further away. */
const longestKey = 1024;

/**
 * Reads maps and lists that are told by their indentation, with all that stands in them: a whole document. Between
 * two values it has always gone on to the content that follows, so that its place tells which collections end.
 */
export class BlockReader {
  readonly #scanner: Scanner;
  readonly #flow: FlowReader;
  /**
   * Where the value read last ends for the range of the collection around it, which holds everything up to there: the
   * end of its line, and of comments below that are indented deeper than the collection.
   */
  #end = 0;
  /** Column of the content that comes next; -1 at the end of the text. */
  #column = -1;
  /** How deep the deepest comment since `#end` is indented; -1 if there is none. */
  #commentIndent = -1;

  constructor(text: string) {
    this.#scanner = new Scanner(text);
    this.#flow = new FlowReader(this.#scanner);
  }

  /** The whole text: one collection that begins in the first column. */
  read(): SyntaxNode {
    this.#goToContent();
    if (this.#column !== 0) giveUp();
    const root = this.#value(-1, 1, 'line');
    if (root.kind === 'scalar' || this.#column >= 0) giveUp();
    return root;
  }

  /**
   * @param indent of the collection around it, which its further lines must be indented deeper than
   * @param depth of a collection: 1 for the outermost
   */
  #value(indent: number, depth: number, before: Before): SyntaxNode {
    const scanner = this.#scanner;
    if (scanner.isAtIndicator('-')) {
      if (before === 'key') giveUp();
      return this.#sequence(depth);
    }
    switch (scanner.character) {
      case '{':
      case '[':
        return this.#endLine(this.#flow.read(indent, depth), indent, before);
      case '|':
      case '>':
        return this.#endBlock(readBlockScalar(scanner, indent), before);
      default:
        return this.#textOrMapping(indent, depth, before);
    }
  }

  #textOrMapping(indent: number, depth: number, before: Before): SyntaxNode {
    const { column } = this.#scanner;
    const text = readText(this.#scanner, false);
    if (!this.#isKey(text)) return this.#endLine(asValue(text), indent, before);
    if (before === 'key') giveUp();
    return this.#mapping(text, column, depth);
  }

  #isKey({ range }: TextNode): boolean {
    const scanner = this.#scanner;
    scanner.skipSpaces();
    return scanner.isAtIndicator(':') && scanner.at - range.start <= longestKey;
  }

  #mapping(firstKey: TextNode, indent: number, depth: number): MappingNode {
    if (depth > limits.depth) giveUp();
    const entries: MappingEntry[] = [];
    for (let text = firstKey; ; text = readText(this.#scanner, false)) {
      if (text !== firstKey && !this.#isKey(text)) giveUp();
      const key = asKey(text);
      entries.push({ key, value: this.#behind(':', key.range, indent, depth) });
      if (this.#column !== indent) break;
    }
    requireDistinctKeys(entries);
    const { start } = firstKey.range;
    return this.#endCollection({ kind: 'mapping', entries, range: { start, end: this.#end }, flow: false }, indent);
  }

  #sequence(depth: number): SequenceNode {
    if (depth > limits.depth) giveUp();
    const { at: start, column: indent } = this.#scanner;
    const items: SyntaxNode[] = [];
    let isCommented = false;
    do {
      const { at } = this.#scanner;
      items.push(this.#behind('-', { start: at, end: at + 1 }, indent, depth, isCommented));
      isCommented = this.#commentIndent >= 0;
    } while (this.#column === indent && this.#scanner.isAtIndicator('-'));
    return this.#endCollection({ kind: 'sequence', items, range: { start, end: this.#end }, flow: false }, indent);
  }

  /**
   * The value behind a `:` or `-`, on its line or below.
   *
   * @param place where a value is shown that is not there
   * @param isCommented a comment stands above the `-`
   */
  #behind(
    indicator: ':' | '-',
    place: SyntaxNode['range'],
    indent: number,
    depth: number,
    isCommented = false,
  ): SyntaxNode {
    const scanner = this.#scanner;
    scanner.at += 1;
    scanner.skipSpaces();
    if (!scanner.isAtLineEnd()) return this.#value(indent, depth + 1, indicator === ':' ? 'key' : 'dash');
    const end = scanner.at;
    const endsWithComment = scanner.skipLineEnd();
    this.#goToContent();
    const hasComment = isCommented || endsWithComment || this.#commentIndent >= 0;
    const isListOfKey = indicator === ':' && this.#column === indent && scanner.isAtIndicator('-');
    if (this.#column > indent || isListOfKey) return this.#value(indent, depth + 1, hasComment ? 'comment' : 'line');
    this.#end = hasComment ? scanner.at : end;
    this.#commentIndent = -1;
    return emptyScalar(place);
  }

  /** What comes next stands further to the left, or on the level of a map that the list is a value of. */
  #endCollection<T extends SyntaxNode>(node: T, indent: number): T {
    if (this.#column > indent) giveUp();
    // Comments below the last value belong to the collection if one is indented like it.
    if (indent > 0 && this.#commentIndent >= indent) {
      this.#end = this.#scanner.at;
      this.#commentIndent = -1;
    }
    return node;
  }

  /** After a value that ends within a line. */
  #endLine<T extends SyntaxNode>(node: T, indent: number, before: Before): T {
    if (before === 'comment') giveUp();
    this.#scanner.skipSpaces();
    this.#scanner.skipLineEnd();
    this.#end = this.#scanner.at;
    this.#goToContent(indent);
    return node;
  }

  /** After a value that ends with its line. */
  #endBlock<T extends SyntaxNode>(node: T, before: Before): T {
    if (before === 'comment') giveUp();
    this.#end = this.#scanner.at;
    this.#goToContent();
    return node;
  }

  /**
   * Past empty lines and comments. Those right below a value that are indented deeper than the collection around it
   * belong to the value.
   */
  #goToContent(indent = Infinity): void {
    const scanner = this.#scanner;
    this.#commentIndent = -1;
    for (;;) {
      scanner.lineStart = scanner.at;
      scanner.skipSpaces();
      const { column, character } = scanner;
      this.#column = character === undefined ? -1 : column;
      if (character === undefined || !scanner.isAtLineEnd()) return;
      if (!scanner.skipLineEnd()) continue;
      if (this.#commentIndent < 0 && column > indent) this.#end = scanner.at;
      else this.#commentIndent = Math.max(this.#commentIndent, column);
    }
  }
}
