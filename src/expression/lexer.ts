/** A token of a formula, as JSONata's tokenizer cuts it; offsets into the text. */
export interface Token {
  kind: 'name' | 'variable' | 'string' | 'number' | 'regex' | 'operator';
  text: string;
  start: number;
  end: number;
}

const space = /[ \t\n\r\v]*/y;
const comment = /\/\*[\s\S]*?(?:\*\/|$)/y;
const string = /"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?/y;
const quotedName = /`[^`]*`?/y;
const number = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][-+]?[0-9]+)?/y;
const doubleOperator = /\.\.|:=|!=|>=|<=|\*\*|~>|\?:|\?\?/y;
const singleOperator = /[.[\]{}(),@#;:?+\-*/%|=<>^&!~]/y;
const word = /[^ \t\n\r\v.[\]{}(),@#;:?+\-*/%|=<>^&!~]+/y;

const valueOperators: ReadonlySet<string> = new Set(['*', '**', '%', 'and', 'or', 'in']);

/** Whether a number is a whole one of more digits than a number can hold. */
export function isRounded(number: string): boolean {
  return /^\d+$/.test(number) && !Number.isSafeInteger(Number(number));
}

/**
 * JSONata's positions are the ends of tokens only; with the tokens their starts are known too. Never throws:
 * a text with mistakes gives the tokens that can be made out.
 */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0];
  };
  let isOperand = false;
  const take = (kind: Token['kind'], found: string): void => {
    // `*`, `%` and words stand for a value themselves where none is before them.
    isOperand = kind !== 'operator' || [')', ']', '}'].includes(found) || (!isOperand && valueOperators.has(found));
    tokens.push({ kind, text: found, start: offset, end: offset + found.length });
    offset += found.length;
  };

  for (;;) {
    offset += match(space)?.length ?? 0;
    if (offset >= text.length) return tokens;
    const skipped = match(comment);
    if (skipped !== undefined) {
      offset += skipped.length;
      continue;
    }
    if (text[offset] === '/' && !isOperand) {
      take('regex', regexAt(text, offset));
      continue;
    }
    const quoted = match(string);
    const operator = match(doubleOperator) ?? match(singleOperator);
    const name = match(quotedName) ?? match(word);
    if (quoted !== undefined) take('string', quoted);
    else if (operator !== undefined) take('operator', operator);
    else if (match(number) !== undefined) take('number', match(number) as string);
    else if (name !== undefined) {
      const isWord = ['and', 'or', 'in'].includes(name);
      take(name.startsWith('$') ? 'variable' : isWord ? 'operator' : 'name', name);
    } else offset++;
  }
}

/** Up to the `/` outside groups and classes that closes it, flags included. */
function regexAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    else if (character === '/' && depth === 0)
      return text.slice(start, at + 1) + (/^[im]*/.exec(text.slice(at + 1))?.[0] ?? '');
  }
  return text.slice(start);
}
