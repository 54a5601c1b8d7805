/** Quotes that text programs put in the place of `"` and `'`. */
export const openingQuote = /^[“”„‟‘’‚‛«»‹›]/;
const closingQuotes = /[“”‟‘’‛«»‹›]/;

/** What stands from such a quote to the one that closes it, or the word alone where none does. */
export function quotedText(text: string, start: number): string {
  const rest = text.slice(start);
  const close = rest.slice(1).search(closingQuotes);
  return close < 0 ? (/^\S+/.exec(rest)?.[0] ?? rest) : rest.slice(0, close + 2);
}

/** The same in quotes that a formula reads. */
export function plainQuotes(words: string): string {
  const inside = words.slice(1).replace(/[“”‟‘’‛«»‹›]$/, '');
  return JSON.stringify(inside);
}
