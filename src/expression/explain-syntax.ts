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
  const at = (start: number, end: number, message: string, help?: string): FormulaSyntaxError =>
    new FormulaSyntaxError(message, offset + start, offset + end, help);

  if (error instanceof Fault) {
    const regex = tokens.find(
      (token) => token.kind === 'regex' && error.message.includes(token.text.replace(/[im]*$/, '')),
    );
    return at(regex?.start ?? 0, regex?.end ?? body.length, error.message);
  }
  if (error instanceof RangeError) return at(0, body.length, 'the formula is nested too deeply');
  if (error instanceof SyntaxError) {
    const regex = tokens.find((token) => token.kind === 'regex');
    return at(regex?.start ?? 0, regex?.end ?? body.length, error.message.replace(/^Invalid/, 'invalid'));
  }
  if (!isJsonataFailure(error)) throw error;

  if (habit) return at(habit.start, habit.end, habit.message, habit.help);
  const unclosed = error.code === 'S0203' ? unclosedBracket(tokens) : undefined;
  if (unclosed) return at(unclosed.start, unclosed.end, `\`${unclosed.text}\` is never closed`);
  const { start, end } = tokenAt(tokens, error.position ?? body.length, body.length);
  return at(start, end, messageOf(error, body.slice(start, end)));
}

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

function messageOf(error: JsonataFailure, token: string): string {
  switch (error.code) {
    case 'S0101':
      return 'a text has no closing quote';
    case 'S0105':
      return 'a name in backquotes has no closing backquote';
    case 'S0106':
      return 'a comment has no closing `*/`';
    case 'S0201':
      return `\`${token}\` is not expected here; is an operator missing before it?`;
    case 'S0202':
      return `\`${String(error.value)}\` is expected here, not \`${token}\``;
    case 'S0203':
      return `\`${String(error.value)}\` is missing at the end`;
    case 'S0204':
      return `\`${token}\` is no operator`;
    case 'S0207':
      return 'the formula ends too early: something is missing at the end';
    case 'S0211':
      return error.token === '(end)' ? 'the formula ends too early' : `\`${token}\` needs something before it`;
    case 'S0212':
      return 'only a variable (`$name`) can stand before `:=`';
    case 'S0217':
      return '`%` leads nowhere: there is no item around the one at hand';
    case 'S0302':
      return 'a regular expression has no closing `/`';
    default:
      return error.message ?? `the formula has a mistake (${error.code})`;
  }
}
