import { functionNames } from './functions.js';
import type { Token } from './lexer.js';
import { type Run, argumentsAt, endsOperand, isName, operandEndingAt, operandStartingAt, textOf } from './operands.js';
import { ownForm } from './other-functions.js';
import { dateAt } from './written-dates.js';
import { openingQuote, plainQuotes, quotedText } from './written-quotes.js';

/** A way of writing that another language has; offsets into the text. */
export interface Habit {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly help: string;
}

/** The first habit of another language in a text that is no formula. */
export function habitOf(tokens: readonly Token[], text: string): Habit | undefined {
  for (const index of tokens.keys()) {
    const habit = new Place(tokens, index, text).habit();
    if (habit !== undefined) return habit;
  }
  return undefined;
}

/** Words that stand between two operands, with how to write the same. */
const infix: Readonly<Record<string, (left: string, right: string) => string>> = {
  contains: (left, right) => `$contains(${left}, ${right})`,
  includes: (left, right) => `$contains(${left}, ${right})`,
  startsWith: (left, right) => `$substring(${left}, 0, $length(${right})) = ${right}`,
  like: (left) => `$contains(${left}, /…/)`,
  matches: (left) => `$contains(${left}, /…/)`,
  eq: (left, right) => `${left} = ${right}`,
  equals: (left, right) => `${left} = ${right}`,
  ne: (left, right) => `${left} != ${right}`,
  gt: (left, right) => `${left} > ${right}`,
  lt: (left, right) => `${left} < ${right}`,
  ge: (left, right) => `${left} >= ${right}`,
  gte: (left, right) => `${left} >= ${right}`,
  le: (left, right) => `${left} <= ${right}`,
  lte: (left, right) => `${left} <= ${right}`,
  x: (left, right) => `${left} * ${right}`,
  times: (left, right) => `${left} * ${right}`,
  mod: (left, right) => `${left} % ${right}`,
  div: (left, right) => `$floor(${left} / ${right})`,
  unless: (left, right) => `$not(${right}) ? ${left}`,
};

/** Words that begin something which formulas have in another form, or not at all. */
const openings: Readonly<Record<string, string>> = {
  if: 'write `<condition> ? <value> : <other value>`',
  elif: 'write `<condition> ? <value> : <other condition> ? <value> : <other value>`',
  then: 'write `<condition> ? <value> : <other value>`',
  else: 'write `<condition> ? <value> : <other value>`',
  case: 'write `<condition> ? <value> : <other condition> ? <value> : <other value>`',
  return: 'leave it out: a formula is its value',
  await: 'leave it out',
  let: 'write `( $x := …; … )`: the value is that of the last part',
  var: 'write `( $x := …; … )`: the value is that of the last part',
  const: 'write `( $x := …; … )`: the value is that of the last part',
  lambda: 'write `function($x){ … }`',
  for: 'write `$map(<list>, function($x){ … })`',
};

const negations: Readonly<Record<string, string>> = { AND: 'and', OR: 'or', And: 'and', Or: 'or', IN: 'in' };

/** One token with what is around it. */
class Place {
  readonly #token: Token;
  readonly #next: Token | undefined;
  readonly #previous: Token | undefined;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly index: number,
    private readonly text: string,
  ) {
    this.#token = tokens[index] as Token;
    this.#next = tokens[index + 1];
    this.#previous = tokens[index - 1];
  }

  habit(): Habit | undefined {
    const written = this.#writing();
    if (written !== undefined) return written;
    return this.#token.kind === 'operator' ? this.#operator() : isName(this.#token) ? this.#word() : undefined;
  }

  /** What people write who think of no language at all: quotes of a text program, `10%`, `1,5`, `3d`, `a; b`. */
  #writing(): Habit | undefined {
    const { kind, text, start, end } = this.#token;
    const next = this.#next;
    if (kind === 'name' && openingQuote.test(text)) {
      const words = quotedText(this.text, start);
      const message = `${words.charAt(0)} and ${words.charAt(words.length - 1)} are no quotes in formulas`;
      return { start, end: start + words.length, message, help: `write \`${plainQuotes(words)}\`` };
    }
    if (text === ';' && this.#separates()) return this.#habit(';', 'separate by `,` what a function is given');
    if (kind !== 'number' || next === undefined) return undefined;
    const date = dateAt(this.text, start);
    if (date !== undefined) return { start, end: start + date.written.length, ...date };
    const following = this.tokens[this.index + 2];
    if (next.text === '%' && !startsOperand(following)) {
      const share = Number((Number(text) / 100).toPrecision(12));
      return { start, end: next.end, message: `\`${text}%\` is no number in formulas`, help: `write \`${share}\`` };
    }
    if (next.text === ',' && following?.kind === 'number' && !this.#isInside()) {
      const thousands = thousandsAt(this.text, start);
      if (thousands !== undefined) return thousands;
      const message = 'a decimal number has a point, not a comma';
      return { start, end: following.end, message, help: `write \`${text}.${following.text}\`` };
    }
    if (next.kind === 'name' && next.start === end && /^(ms|[dhms])$/.test(next.text)) {
      const sign = this.#previous?.text === '-' ? '-' : '';
      const before = operandEndingAt(this.tokens, this.index - 2);
      const time = before === undefined ? '$now()' : short(textOf(this.tokens, before, this.text));
      const help = `write \`$addDuration(${time}, "${sign}${text}${next.text}")\``;
      return { start, end: next.end, message: `\`${text}${next.text}\` is no number in formulas`, help };
    }
    return undefined;
  }

  /** Whether a `;` stands among what a function is given: `$round($x; 2)`. */
  #separates(): boolean {
    const open = this.#opening();
    const callee = open === undefined ? undefined : this.tokens[open - 1];
    return open !== undefined && this.tokens[open]?.text === '(' && callee !== undefined && callee.kind !== 'operator';
  }

  #isInside(): boolean {
    return this.#opening() !== undefined;
  }

  /** The bracket that is open here. */
  #opening(): number | undefined {
    let depth = 0;
    for (let at = this.index - 1; at >= 0; at -= 1) {
      const token = this.tokens[at];
      if (token?.kind !== 'operator') continue;
      if (')]}'.includes(token.text)) depth += 1;
      if ('([{'.includes(token.text) && --depth < 0) return at;
    }
    return undefined;
  }

  #operator(): Habit | undefined {
    const { text } = this.#token;
    const touching = this.#next?.start === this.#token.end ? this.#next.text : '';
    const pair = text + touching;
    switch (pair) {
      case '==': {
        const third = this.tokens[this.index + 2];
        const isThird = third?.text === '=' && third.start === this.#next?.end;
        const operand = this.#right(this.index + (isThird ? 3 : 2));
        const absent = /^(null|undefined|None|nil)$/.test(operand)
          ? `; whether something is there at all asks \`$exists(${this.#left()})\``
          : '';
        return this.#habit(isThird ? '===' : '==', `write \`=\`: one sign compares${absent}`, isThird ? 2 : 1);
      }
      case '!==':
        return this.#habit('!==', 'write `!=`', 1);
      case '&&':
        return this.#habit('&&', 'write `and`', 1);
      case '||': {
        const fallback = this.#right(this.index + 2);
        const isValue = /^(["'\d[{]|null$)/.test(fallback);
        return this.#habit('||', isValue ? 'for a default write `??`' : 'write `or`', 1);
      }
      case '=>':
        return this.#habit('=>', this.#arrowHelp(), 1);
      case '<>':
        return this.#habit('<>', 'write `!=`', 1);
      case '=~':
        return this.#habit('=~', `write \`$contains(${this.#left()}, /…/)\``, 1);
      case '++':
      case '--':
      case '+=':
      case '-=':
        return this.#habit(pair, 'a value never changes: give the new one in a `set`', 1);
      case '?.':
        return this.#habit('?.', 'write `.`: a path over what is absent is absent itself', 1);
      case '{{':
        return this.#habit('{{', 'leave the braces out: a formula begins with `=` and is the whole text', 1);
    }
    if (text === '=' && !endsOperand(this.#previous)) return this.#secondSign();
    if (text === '**') return this.#habit('**', `write \`$power(${this.#left()}, ${this.#right(this.index + 1)})\``);
    if (text === '!') return this.#habit('!', `write \`$not(${withoutBrackets(this.#right(this.index + 1))})\``);
    if (text === '/' && this.#next?.kind === 'regex' && touching.startsWith('/')) {
      return this.#habit('//', `write \`$floor(${this.#left()} / …)\``, 0, this.#token.end + 1);
    }
    if (text === 'in' && this.#next?.text === '(') {
      const args = argumentsAt(this.tokens, this.index + 1, this.text)?.args ?? [];
      if (args.length > 1) return this.#habit('in (', `write \`${this.#left()} in [${args.join(', ')}]\``, 1);
    }
    if (text === '|' && this.#next?.kind === 'name') return this.#filter(this.#next, this.#left());
    if (text === ':' && this.#isSlice()) return this.#habit(':', 'write a range of positions: `[[0..2]]`');
    if (text === ';' && this.#next === undefined) return this.#habit(';', 'leave it out');
    if (text === '.' && this.#next?.kind === 'number') {
      return this.#habit(pair, `write \`${this.#left()}[${this.#next.text}]\`: a position stands in brackets`, 1);
    }
    if (text === '.' && this.#previous === undefined && this.#next !== undefined) {
      const path = this.#right(this.index + 1);
      return this.#habit(`.${path}`, `begin with a variable: \`$input.${path}\``, 0, this.#next.end);
    }
    if (text === '@' && this.#previous === undefined) return this.#habit('@', 'begin with a variable, as in `$input`');
    return undefined;
  }

  #word(): Habit | undefined {
    const { text } = this.#token;
    if (text === '$' && this.#next?.text === '{') {
      return this.#habit('${', 'leave `$`, `{` and `}` out, and begin with a variable: `$input.orderId`', 1);
    }
    if (this.#token.kind === 'variable') return undefined;
    if (text === 'function' && this.#next?.text === '(' && this.tokens[this.index + 2]?.kind === 'name') {
      const parameter = this.tokens[this.index + 2]?.text ?? 'x';
      return this.#habit(
        parameter,
        `names of parameters begin with \`$\`: \`function($${parameter})\``,
        2,
        undefined,
        2,
      );
    }
    const between = endsOperand(this.#previous);
    if (text === 'not' || text === 'NOT' || (text === 'is' && between)) return this.#isOrNot(between);
    if (text === 'new' && this.#next?.kind === 'name') {
      const help = this.#next.text === 'Date' ? 'write `$now()`' : 'leave it out';
      return this.#habit(`new ${this.#next.text}`, help, 1);
    }
    if (between) {
      const plain = negations[text];
      if (plain !== undefined) return this.#habit(text, `write \`${plain}\``);
      if (text === 'between') return this.#between();
      const form = Object.hasOwn(infix, text) ? infix[text] : undefined;
      if (form !== undefined) {
        return this.#habit(text, `write \`${form(this.#left(), this.#right(this.index + 1))}\``);
      }
    }
    const opening = Object.hasOwn(openings, text) ? openings[text] : undefined;
    const stands = between || this.#previous === undefined || this.#previous.text !== '.';
    if (opening !== undefined && stands && this.#next !== undefined && this.#next.text !== '.') {
      return this.#habit(text, opening);
    }
    return undefined;
  }

  /** `is null`, `is not null`, `is empty`, `not in`, `not $x`. */
  #isOrNot(between: boolean): Habit | undefined {
    const { text } = this.#token;
    if (text !== 'is' && !between) {
      const operand = this.#comparison(this.index + 1);
      if (this.#next?.text === '(' || operand === '…') return undefined;
      return this.#habit(text, `write \`$not(${operand})\``);
    }
    if (text !== 'is') {
      if (this.#next?.text === 'in') {
        return this.#habit('not in', `write \`$not(${this.#left()} in ${this.#right(this.index + 2)})\``, 1);
      }
      return this.#habit(text, `write \`$not(…)\``);
    }
    const negated = this.#next?.text === 'not';
    const length = negated ? 2 : 1;
    const value = this.tokens[this.index + length]?.text ?? '…';
    const named = `is ${negated ? 'not ' : ''}${value}`;
    if (/^(null|None|undefined|nil|defined|present|set)$/i.test(value)) {
      const asksPresence = /^(defined|present|set)$/i.test(value);
      const exists = negated === asksPresence ? `$not($exists(${this.#left()}))` : `$exists(${this.#left()})`;
      const equals = asksPresence
        ? ''
        : `; for a null that was given, \`${this.#left()} ${negated ? '!=' : '='} null\``;
      return this.#habit(named, `write \`${exists}\`${equals}`, length);
    }
    if (value === 'empty')
      return this.#habit(named, `write \`$count(${this.#left()}) ${negated ? '>' : '='} 0\``, length);
    return this.#habit(named, `write \`${this.#left()} ${negated ? '!=' : '='} ${value}\``, length);
  }

  #between(): Habit {
    const left = this.#left();
    const low = operandStartingAt(this.tokens, this.index + 1);
    const high = low === undefined ? undefined : operandStartingAt(this.tokens, low.last + 2);
    const [from, to] = [low, high].map((run) => (run === undefined ? '…' : textOf(this.tokens, run, this.text)));
    return this.#habit('between', `write \`${left} >= ${from ?? '…'} and ${left} <= ${to ?? '…'}\``);
  }

  /** `$input.name | upper` of Jinja and Liquid. */
  #filter(name: Token, left: string): Habit {
    const form = ownForm(name.text, [left], functionNames) ?? 'a function is called as `$name(…)`';
    return this.#habit(`| ${name.text}`, form, 1);
  }

  /** `$list.map(x => x.y)`: the whole call in our form, where it is one. */
  #arrowHelp(): string {
    const parameters = operandEndingAt(this.tokens, this.index - 1);
    const general = 'write `function($x){ … }`';
    if (parameters === undefined) return general;
    const own = lambda(this.tokens, parameters, this.index + 2, this.text);
    const open = this.tokens[parameters.first - 1];
    const call = methodCallAt(this.tokens, parameters.first - 2, this.text);
    if (own === undefined) return general;
    if (open?.text !== '(' || call === undefined) return `write \`${own}\``;
    return ownForm(call.name, [call.subject, own], functionNames) ?? `write \`${own}\``;
  }

  /** `=$a + =$b`: the one `=` at the beginning makes a formula of all of it. */
  #secondSign(): Habit {
    const isSign = (index: number): boolean => this.tokens[index]?.text === '=' && !endsOperand(this.tokens[index - 1]);
    const signs = this.tokens.filter((_, index) => isSign(index));
    let whole = '=';
    let at = 0;
    for (const { start, end } of signs) {
      whole += this.text.slice(at, start);
      at = end;
    }
    whole += this.text.slice(at);
    const help = whole.length > 100 ? 'leave this one out' : `write \`${whole.replace(/^=\s+/, '=')}\``;
    return { ...this.#token, message: 'only the beginning of a formula has a `=`, and here stands another', help };
  }

  #isSlice(): boolean {
    const before = this.tokens[this.index - 1];
    return before?.text === '[' || (before?.kind === 'number' && this.tokens[this.index - 2]?.text === '[');
  }

  #left(): string {
    const run = operandEndingAt(this.tokens, this.index - 1);
    return run === undefined ? '…' : short(textOf(this.tokens, run, this.text));
  }

  #right(index: number): string {
    const run = operandStartingAt(this.tokens, index);
    return run === undefined ? '…' : short(textOf(this.tokens, run, this.text));
  }

  /** What `not` is about where it begins at a token: `$input.n > 3` with its sign, up to an `and` or `or`. */
  #comparison(index: number): string {
    const run = operandStartingAt(this.tokens, index);
    const sign = run === undefined ? undefined : this.tokens[run.last + 1];
    const other =
      run === undefined || !comparisons.has(sign?.text ?? '')
        ? undefined
        : operandStartingAt(this.tokens, run.last + 2);
    return run === undefined || other === undefined
      ? this.#right(index)
      : short(textOf(this.tokens, { first: run.first, last: other.last }, this.text));
  }

  #habit(named: string, help: string, further = 0, end?: number, from = 0): Habit {
    return {
      start: this.tokens[this.index + from]?.start ?? this.#token.start,
      end: end ?? this.tokens[this.index + further]?.end ?? this.#token.end,
      message: `\`${named}\` is not part of formulas`,
      help,
    };
  }
}

/** `1,000`, `1,250,000`: with one comma it may be that of a decimal number. */
function thousandsAt(text: string, start: number): Habit | undefined {
  const written = /^\d{1,3}(?:,\d{3})+(?!\d)/.exec(text.slice(start))?.[0];
  if (written === undefined) return undefined;
  const [whole, fraction, ...more] = written.split(',');
  const decimal = more.length === 0 ? `, or \`${whole}.${fraction}\` if the comma is a decimal point` : '';
  const message = 'a number has no commas between its thousands';
  const help = `write \`${written.replaceAll(',', '')}\`${decimal}`;
  return { start, end: start + written.length, message, help };
}

/** What can follow an operator as its right side. */
function startsOperand(token: Token | undefined): boolean {
  return token !== undefined && (token.kind !== 'operator' || '([{'.includes(token.text));
}

const comparisons: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', 'in']);

function withoutBrackets(text: string): string {
  const inside = /^\(([^()]*)\)$/.exec(text)?.[1];
  return inside ?? text;
}

function short(text: string): string {
  return text.length > 60 ? '…' : text;
}

/** `function($x) { $x.y }` for the arrow function whose parameters are a run and whose body begins at a token. */
function lambda(tokens: readonly Token[], parameters: Run, body: number, text: string): string | undefined {
  const names = tokens.slice(parameters.first, parameters.last + 1).filter(isName);
  const start = tokens[body];
  if (names.length === 0 || start === undefined) return undefined;
  let depth = 0;
  let end = body;
  for (let index = body; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.kind === 'operator' && '([{'.includes(token.text)) depth += 1;
    if (token.kind === 'operator' && ')]}'.includes(token.text)) depth -= 1;
    if (depth < 0 || (depth === 0 && token.text === ',')) break;
    end = index;
  }
  const own = new Set(names.map((name) => name.text.replace(/^\$/, '')));
  let written = '';
  let at = start.start;
  for (let index = body; index <= end; index += 1) {
    const token = tokens[index] as Token;
    const isParameter = token.kind === 'name' && own.has(token.text) && tokens[index - 1]?.text !== '.';
    written += `${text.slice(at, token.start)}${isParameter ? '$' : ''}${token.text}`;
    at = token.end;
  }
  return `function(${[...own].map((name) => `$${name}`).join(', ')}) { ${short(written)} }`;
}

/** A call of a method, `<subject>.<name>(…)`, or of a function without `$`. */
interface MethodCall {
  readonly name: string;
  readonly subject: string;
  readonly args: readonly string[];
}

/** The method call whose name is a token. */
function methodCallAt(tokens: readonly Token[], index: number, text: string): MethodCall | undefined {
  const name = tokens[index];
  if (name?.kind !== 'name' || tokens[index + 1]?.text !== '(' || tokens[index - 1]?.text !== '.') return undefined;
  const subject = operandEndingAt(tokens, index - 2);
  if (subject === undefined) return undefined;
  const args = argumentsAt(tokens, index + 1, text)?.args ?? [];
  return { name: name.text, subject: textOf(tokens, subject, text), args };
}
