import { Fault } from './fault.js';
import { FormulaSyntaxError } from './formula-error.js';
import { habitOf } from './habits.js';
import { type Token, tokensOf } from './lexer.js';

/** What JSONata throws: a plain object, not an `Error`. */
export interface JsonataFailure {
  code: string;
  message?: string;
  position?: number;
  token?: unknown;
  value?: unknown;
  value2?: unknown;
  index?: number;
}

export function isJsonataFailure(error: unknown): error is JsonataFailure {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[DSTU]\d{4}$/.test(error.code)
  );
}

/** Makes an error of JSONata's parser one that says what to write instead. Offsets are into the text. */
export function explainSyntaxError(error: unknown, body: string, offset: number): FormulaSyntaxError {
  if (error instanceof FormulaSyntaxError) return error;
  const tokens = tokensOf(body);
  const habit = habitOf(tokens, body);
  const at = (start: number, end: number, message: string, help: string): FormulaSyntaxError =>
    new FormulaSyntaxError(message, offset + start, offset + end, help);

  if (error instanceof Fault) {
    const regex = tokens.find(
      (token) => token.kind === 'regex' && error.message.includes(token.text.replace(/[im]*$/, '')),
    );
    return at(regex?.start ?? 0, regex?.end ?? body.length, error.message, 'write it in a plainer way');
  }
  if (error instanceof RangeError) return at(0, body.length, 'the formula is nested too deeply', splitIt);
  if (error instanceof SyntaxError) {
    const regex = tokens.find((token) => token.kind === 'regex');
    return at(
      regex?.start ?? 0,
      regex?.end ?? body.length,
      error.message.replace(/^Invalid/, 'invalid'),
      'write it in a plainer way',
    );
  }
  if (!isJsonataFailure(error)) throw error;

  if (habit) return at(habit.start, habit.end, habit.message, habit.help);
  const unclosed = error.code === 'S0203' ? unclosedBracket(tokens) : undefined;
  if (unclosed)
    return at(
      unclosed.start,
      unclosed.end,
      `\`${unclosed.text}\` is never closed`,
      `close it with \`${closers[unclosed.text] ?? ''}\``,
    );
  const { start, end } = tokenAt(tokens, error.position ?? body.length, body.length);
  const [message, help] = explanationOf(error, body.slice(start, end));
  return at(start, end, message, help);
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const splitIt = 'give a part of it a name in a `set`, and read that';

/** JSONata's position is the end of a token, or of the text. */
function tokenAt(tokens: readonly Token[], position: number, length: number): { start: number; end: number } {
  const token = tokens.find(({ start, end }) => position > start && position <= end) ?? tokens.at(-1);
  return token ?? { start: Math.max(0, length - 1), end: length };
}

function unclosedBracket(tokens: readonly Token[]): Token | undefined {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== 'operator') continue;
    if ('([{'.includes(token.text)) open.push(token);
    else if (')]}'.includes(token.text)) open.pop();
  }
  return open.at(-1);
}

/** What is wrong, and how to mend it. */
function explanationOf(error: JsonataFailure, token: string): readonly [message: string, help: string] {
  const plainer = 'write it in a plainer way';
  switch (error.code) {
    case 'S0101':
      return ['a text has no closing quote', 'close it with the quote that it begins with'];
    case 'S0105':
      return ['a name in backquotes has no closing backquote', 'close it with a backquote'];
    case 'S0106':
      return ['a comment has no closing `*/`', 'close it with `*/`'];
    case 'S0102':
      return [`the number \`${token}\` is too large`, 'write it as text'];
    case 'S0103':
    case 'S0104':
      return ['a `\\` in a text begins something that there is not', 'write `\\\\` for the sign itself'];
    case 'S0201':
      return [
        `\`${token}\` is not expected here`,
        'is an operator missing before it, such as `&`, `+`, `=` or `and`? Text stands in quotes',
      ];
    case 'S0202':
      return [
        `\`${String(error.value)}\` is expected here, not \`${token}\``,
        `write \`${String(error.value)}\` before it`,
      ];
    case 'S0203':
      return [`\`${String(error.value)}\` is missing at the end`, 'add it'];
    case 'S0204':
      return [
        `\`${token}\` is no operator`,
        'operators are `=`, `!=`, `<`, `>`, `and`, `or`, `in`, `&`, `+`, `-`, `*` and `/`',
      ];
    case 'S0207':
      return [
        'the formula ends too early: something is missing at the end',
        'write what belongs behind it, or remove the last sign',
      ];
    case 'S0211':
      if (error.token === '(end)')
        return ['the formula ends too early', 'write what belongs behind it, or remove the last sign'];
      return [`\`${token}\` needs something before it`, 'write what it works on before it, or remove it'];
    case 'S0212':
      return ['only a variable (`$name`) can stand before `:=`', 'write `$name := …`; to compare write `=`'];
    case 'S0208':
      return ['the parameters of a function begin with `$`', 'write `function($x){ … }`'];
    case 'S0209':
    case 'S0210':
    case 'S0215':
    case 'S0216':
      return ['what stands in brackets here cannot follow what is before it', 'put what is before it in brackets'];
    case 'S0213':
      return [`\`${String(error.value)}\` is no field`, 'an item of a list is read by its position in brackets: `[0]`'];
    case 'S0301':
      return ['a regular expression is empty', 'write what is looked for between the two `/`'];
    case 'S0217':
      return ['`%` leads nowhere: there is no item around the one at hand', 'begin with a variable'];
    case 'S0302':
      return ['a regular expression has no closing `/`', 'close it with `/`'];
    default:
      return [error.message ?? `the formula has a mistake (${error.code})`, plainer];
  }
}
