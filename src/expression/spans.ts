import { type JsonataNode, childrenOf } from './jsonata-tree.js';
import { type Token, tokensOf } from './lexer.js';

export interface Span {
  start: number;
  end: number;
}

/** Finds where in the text a node of the tree stands. */
export class Spans {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #byEnd: ReadonlyMap<number, Token>;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
    this.#byEnd = new Map(this.#tokens.map((token) => [token.end, token]));
  }

  get tokens(): readonly Token[] {
    return this.#tokens;
  }

  /** The token that ends at an offset: JSONata gives nothing but ends. */
  tokenEndingAt(end: number | undefined): Token | undefined {
    return end === undefined ? undefined : this.#byEnd.get(end);
  }

  /** From the first to the last token of a node; undefined for nodes that stand nowhere in the text. */
  of(node: JsonataNode): Span | undefined {
    let start = Infinity;
    let end = -Infinity;
    const visit = (part: JsonataNode): void => {
      const token = this.tokenEndingAt(part.position);
      // A block's token is its `(`; a default's is its operator, between its two sides.
      if (token) {
        start = Math.min(start, token.start);
        end = Math.max(end, token.end);
      }
      for (const child of childrenOf(part)) visit(child.node);
    };
    visit(node);
    return start === Infinity ? undefined : { start, end: this.#closing(start, end) };
  }

  textOf(span: Span): string {
    return this.#text.slice(span.start, span.end);
  }

  /** The tree keeps opening brackets only: goes on to the ones that close what was opened inside. */
  #closing(start: number, end: number): number {
    let open = 0;
    let closed = end;
    for (const { text, start: at, end: tokenEnd, kind } of this.#tokens) {
      if (at < start || kind !== 'operator') continue;
      if (at >= end && open <= 0) break;
      if ('([{'.includes(text)) open++;
      if (')]}'.includes(text)) {
        open--;
        closed = Math.max(closed, tokenEnd);
      }
    }
    return closed;
  }
}
