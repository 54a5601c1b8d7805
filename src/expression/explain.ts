import { type JsonataFailure, isJsonataFailure } from './explain-syntax.js';
import { AbsentOperand, Fault, type FormulaFailure } from './fault.js';
import { FormulaError } from './formula-error.js';
import { Spans } from './spans.js';
import { describeValue } from './value-names.js';

/** Makes whatever an evaluation threw the one error that callers see. */
export function explain(error: unknown, formula: string): FormulaError {
  if (error instanceof FormulaError) return error;
  if (error instanceof AbsentOperand) return explainAbsent(error, formula);
  if (error instanceof Fault) {
    return new FormulaError({
      formula,
      reason: error.reason,
      detail: error.message,
      start: error.start,
      end: error.end,
    });
  }
  if (error instanceof RangeError) {
    return new FormulaError({
      formula,
      reason: 'limit',
      detail: 'the formula makes a value that is too large or nested too deeply',
    });
  }
  if (isJsonataFailure(error)) {
    const token = new Spans(formula).tokenEndingAt(error.position);
    const [reason, detail] = detailOf(error);
    return new FormulaError({ formula, reason, detail, start: token?.start, end: token?.end });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new FormulaError({ formula, reason: 'failed', detail });
}

function explainAbsent(error: AbsentOperand, formula: string): FormulaError {
  const spans = new Spans(formula);
  const span = spans.of(error.node);
  const text = span && spans.textOf(span);
  const named = text === undefined || text.length > 80 ? 'a part of it' : `\`${text}\``;
  const remedy =
    text === undefined || text.length > 80
      ? 'ask `$exists(…)` first, or give a default with `??`'
      : `ask \`$exists(${text})\` first, or give a default: \`${text} ?? …\``;
  const length = text?.endsWith('.length')
    ? ' (the number of items is `$count(…)`, that of characters `$length(…)`)'
    : '';
  return new FormulaError({
    formula,
    reason: 'absent',
    detail: `${named} is absent, but ${error.role} must have a value; ${remedy}${length}`,
    start: span?.start,
    end: span?.end,
  });
}

function detailOf(error: JsonataFailure): [FormulaFailure, string] {
  const token = String(error.token);
  const value = describeValue(error.value);
  const call = `\`$${token}\``;
  switch (error.code) {
    case 'T2001':
    case 'T2002': {
      const side = error.code === 'T2001' ? 'left' : 'right';
      const join = token === '+' && typeof error.value === 'string' ? ' (texts are joined with `&`)' : '';
      return ['type', `the ${side} side of \`${token}\` must be a number, but is ${value}${join}`];
    }
    case 'T2003':
    case 'T2004':
      return ['type', `both ends of \`..\` must be whole numbers, but one is ${value}`];
    case 'T2009':
      return [
        'type',
        `\`${token}\` compares numbers with numbers or texts with texts, not ${value} with ${describeValue(error.value2)}`,
      ];
    case 'T2010':
      return ['type', `\`${token}\` compares numbers or texts only, not ${value}`];
    case 'T2007':
    case 'T2008':
      return ['type', 'what is sorted by must be all numbers or all texts'];
    case 'D1002':
      return ['type', `\`-\` needs a number, but is given ${value}`];
    case 'T1003':
      return ['type', `a key of \`{…}\` must be text, but is ${value}`];
    case 'T1005':
      return ['failed', `\`${token}\` is no function; functions begin with \`$\`: \`$${token}(…)\``];
    case 'T1006':
    case 'T1008':
      return [
        'failed',
        error.token === undefined ? 'something is called that is no function' : `${call} is no function`,
      ];
    case 'T0410':
    case 'T0411':
    case 'T0412':
      return ['type', `${call} cannot take ${value} as its argument ${error.index ?? ''}`.trimEnd()];
    case 'D1001':
      return ['limit', 'a number becomes too large'];
    case 'D2014':
    case 'D2015':
      return ['limit', 'a list becomes longer than the 1,000,000 items that a formula may make'];
    case 'D3030':
      return ['type', `\`$number\` cannot make a number of ${value}`];
    case 'D3137':
    case 'D3141':
      return ['failed', error.message ?? 'the formula says that something is wrong'];
    default:
      return ['failed', error.message ?? error.code];
  }
}
