import type { Token } from './lexer.js';
import type { Span } from './spans.js';

/** A text that this parser cannot read; whether it is a formula only JSONata can say. */
export class NotUnderstood extends Error {}

/** Goes through the tokens of a formula. `offset` is added to each place. */
export class TokenCursor {
  #next = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly offset: number,
  ) {}

  get token(): Token | undefined {
    return this.tokens[this.#next];
  }

  /** The operator that comes next, if one does. */
  get operator(): string | undefined {
    const token = this.token;
    return token?.kind === 'operator' ? token.text : undefined;
  }

  /** Where the token that was taken last ends. */
  get end(): number {
    return (this.tokens[this.#next - 1]?.end ?? 0) + this.offset;
  }

  take(): Token {
    const token = this.token;
    if (token === undefined) throw new NotUnderstood();
    this.#next++;
    return token;
  }

  expect(operator: string): Token {
    if (this.operator !== operator) throw new NotUnderstood();
    return this.take();
  }

  skips(operator: string): boolean {
    const found = this.operator === operator;
    if (found) this.#next++;
    return found;
  }

  /** After some brackets JSONata takes a `/` for the beginning of a regular expression. */
  mayNotDivide(): void {
    if (this.operator === '/') throw new NotUnderstood();
  }

  spanOf({ start, end }: Span): Span {
    return { start: start + this.offset, end: end + this.offset };
  }
}
