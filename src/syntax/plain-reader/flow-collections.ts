import { FormulaEnds } from '../formula-ends.js';
import { limits } from '../limits.js';
import type { MappingEntry, MappingNode, ScalarNode, SequenceNode, SyntaxNode } from '../tree.js';
import { requireDistinctKeys } from './distinct-keys.js';
import { giveUp } from './not-plain.js';
import { asKey, asValue, readText } from './scalars.js';
import { type Scanner, isBlank } from './scanner.js';

/** Reads `{ … }` and `[ … ]`, on one line or over several. */
export class FlowReader {
  readonly #formulaEnds: FormulaEnds;
  /** Of the block collection around. */
  #indent = -1;
  /** How many of them are open, one inside the other. */
  #level = 0;

  constructor(private readonly scanner: Scanner) {
    this.#formulaEnds = new FormulaEnds(scanner.text);
  }

  /**
   * @param indent of the block collection around it, which further lines must be indented deeper than
   * @param depth 1 for the outermost collection of the text
   */
  read(indent: number, depth: number): MappingNode | SequenceNode {
    this.#indent = indent;
    return this.#collection(depth);
  }

  #collection(depth: number): MappingNode | SequenceNode {
    if (depth > limits.depth) giveUp();
    this.#level += 1;
    const node = this.scanner.character === '{' ? this.#mapping(depth) : this.#sequence(depth);
    this.#level -= 1;
    return node;
  }

  #mapping(depth: number): MappingNode {
    const entries: MappingEntry[] = [];
    const range = this.#eachUpTo('}', () => entries.push(this.#entry(depth)));
    requireDistinctKeys(entries);
    return { kind: 'mapping', entries, range, flow: true };
  }

  #sequence(depth: number): SequenceNode {
    const items: SyntaxNode[] = [];
    const range = this.#eachUpTo(']', () => items.push(this.#value(depth)));
    return { kind: 'sequence', items, range, flow: true };
  }

  /** Reads what stands between commas. A comma may follow the last one. */
  #eachUpTo(close: '}' | ']', read: () => void): SyntaxNode['range'] {
    const { scanner } = this;
    const start = scanner.at;
    do {
      scanner.at += 1;
      this.#skipBlanks();
      if (scanner.character === close) break;
      read();
      this.#skipBlanks();
    } while (scanner.character === ',');
    if (scanner.character !== close) giveUp();
    scanner.at += 1;
    return { start, end: scanner.at };
  }

  #entry(depth: number): MappingEntry {
    const { scanner } = this;
    const key = asKey(readText(scanner, true));
    scanner.skipSpaces();
    if (scanner.character !== ':') giveUp();
    // As in JSON, nothing needs to stand between a key in quotes and its value.
    if (key.style === 'plain' && !isBlank(scanner.text[scanner.at + 1])) giveUp();
    scanner.at += 1;
    this.#skipBlanks();
    return { key, value: this.#value(depth) };
  }

  #value(depth: number): SyntaxNode {
    const { scanner } = this;
    if (scanner.character === '{' || scanner.character === '[') return this.#collection(depth + 1);
    return this.#wholeFormula(asValue(readText(scanner, true)));
  }

  /** Gives up where the formula goes on behind the place at which YAML ends it. */
  #wholeFormula(node: ScalarNode): ScalarNode {
    const { value, style, range } = node;
    const isFormula =
      style === 'plain' && typeof value === 'string' && (value.startsWith('=') || value.startsWith('$'));
    if (isFormula && this.#formulaEnds.of(range.start) > range.end) giveUp();
    return node;
  }

  #skipBlanks(): void {
    const { scanner } = this;
    scanner.skipSpaces();
    if (!scanner.isAtLineEnd()) return;
    while (scanner.character !== undefined && scanner.isAtLineEnd()) {
      scanner.skipLineEnd();
      scanner.skipSpaces();
    }
    if (scanner.column > this.#indent) return;
    // The last bracket may stand below the beginning of its entry.
    const closes = scanner.character === '}' || scanner.character === ']';
    if (!closes || scanner.column < this.#indent || this.#level > 1) giveUp();
  }
}
