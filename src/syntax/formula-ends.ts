import type { Range } from './source.js';

/**
 * Where unquoted formulas inside `{ … }` or `[ … ]` were meant to end: at the comma or bracket of the collection around
 * them, which YAML may well see earlier. One for a whole text, since it remembers which quotes are never closed:
 * looking for their end again and again would take forever in a text made for that.
 */
export class FormulaEnds {
  /** For each kind of quote where it was last looked for in vain. */
  readonly #unclosed = new Map<string, Range>();

  constructor(private readonly text: string) {}

  /** The end of the formula that begins at `start`. */
  of(start: number): number {
    const { text } = this;
    const open: string[] = [];
    let end = start;
    for (let at = start; at < text.length; at += 1) {
      const character = text[at] ?? '';
      if ('"\'`'.includes(character)) {
        const close = this.#closingQuote(at);
        if (close === undefined) break;
        at = close;
      } else if ('([{'.includes(character)) {
        open.push(character === '(' ? ')' : character === '[' ? ']' : '}');
      } else if (')]}'.includes(character)) {
        if (open.pop() !== character) break;
      } else if (open.length === 0 && (character === ',' || character === '\n')) {
        break;
      } else if (/\s/.test(character)) {
        if (open.length === 0 && text[at + 1] === '#') break;
        continue;
      }
      end = at + 1;
    }
    return end;
  }

  /** JSONata's strings end at their quote, within the line, as far as a slip goes. */
  #closingQuote(start: number): number | undefined {
    const { text } = this;
    const quote = text[start] ?? '';
    const vain = this.#unclosed.get(quote);
    // Where one quote finds no end, those that it passed find none either: they were escaped.
    if (vain !== undefined && vain.start <= start && start < vain.end) return undefined;
    let at = start + 1;
    for (; at < text.length && text[at] !== '\n'; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (text[at] === quote) return at;
    }
    this.#unclosed.set(quote, { start, end: at });
    return undefined;
  }
}
