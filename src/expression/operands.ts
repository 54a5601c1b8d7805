import type { Token } from './lexer.js';

/** A run of tokens: from the first up to and with the last. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** The operand that ends at a token: `$input.items[0].name` at `name`. Undefined where none ends there. */
export function operandEndingAt(tokens: readonly Token[], last: number): Run | undefined {
  let first = last;
  for (;;) {
    const token = tokens[first];
    if (token === undefined) return undefined;
    if (isCloser(token)) {
      const open = openerOf(tokens, first);
      if (open === undefined) return undefined;
      first = open;
      // A call or a predicate belongs to what stands before it.
      const before = tokens[open - 1];
      if (before !== undefined && (isName(before) || isCloser(before) || before.kind === 'string')) {
        first = open - 1;
        continue;
      }
    } else if (token.kind === 'operator') return undefined;
    if (tokens[first - 1]?.text !== '.') return { first, last };
    if (first < 2) return { first: first - 1, last };
    first -= 2;
  }
}

/** The operand that begins at a token. */
export function operandStartingAt(tokens: readonly Token[], first: number): Run | undefined {
  let last = first;
  const start = tokens[first];
  if (start === undefined) return undefined;
  if (isOpener(start)) {
    const close = closerOf(tokens, first);
    if (close === undefined) return undefined;
    last = close;
  } else if (start.kind === 'operator') return undefined;
  for (;;) {
    const next = tokens[last + 1];
    if (next?.text === '.' && tokens[last + 2] !== undefined && tokens[last + 2]?.kind !== 'operator') last += 2;
    else if (next?.text === '(' || next?.text === '[') {
      const close = closerOf(tokens, last + 1);
      if (close === undefined) return { first, last };
      last = close;
    } else return { first, last };
  }
}

/** The texts of the arguments of a call whose `(` is at a token; with the token of its `)`. */
export function argumentsAt(
  tokens: readonly Token[],
  open: number,
  text: string,
): { args: string[]; close: number } | undefined {
  const close = closerOf(tokens, open);
  if (close === undefined) return undefined;
  const args: string[] = [];
  let from = tokens[open]?.end ?? 0;
  let depth = 0;
  for (let index = open + 1; index <= close; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    if ((depth === 0 && token.text === ',' && token.kind === 'operator') || index === close) {
      const argument = text.slice(from, token.start).trim();
      if (argument !== '') args.push(argument);
      from = token.end;
    } else if (isOpener(token)) depth += 1;
    else if (isCloser(token)) depth -= 1;
  }
  return { args, close };
}

export function textOf(tokens: readonly Token[], { first, last }: Run, text: string): string {
  return text.slice(tokens[first]?.start ?? 0, tokens[last]?.end ?? text.length);
}

function openerOf(tokens: readonly Token[], close: number): number | undefined {
  let depth = 0;
  for (let index = close; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token !== undefined && isCloser(token)) depth += 1;
    if (token !== undefined && isOpener(token)) depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function closerOf(tokens: readonly Token[], open: number): number | undefined {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token !== undefined && isOpener(token)) depth += 1;
    if (token !== undefined && isCloser(token)) depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}

export function isName(token: Token | undefined): boolean {
  return token !== undefined && (token.kind === 'name' || token.kind === 'variable');
}

/** Whether a token can end an operand, so that what follows it must be an operator. */
export function endsOperand(token: Token | undefined): boolean {
  return token !== undefined && (token.kind !== 'operator' || isCloser(token));
}

function isOpener(token: Token): boolean {
  return token.kind === 'operator' && token.text in closers;
}

function isCloser(token: Token): boolean {
  return token.kind === 'operator' && Object.values(closers).includes(token.text);
}
