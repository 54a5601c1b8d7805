import type { JsonValue } from '../common/index.js';

import { Evaluation, evaluationVariable } from './evaluation.js';
import { explain } from './explain.js';
import type { Bindings, Formula, Surroundings } from './formula.js';
import { FormulaError } from './formula-error.js';
import { giveUp, readPath } from './plain-path.js';
import { toPlainJson } from './result.js';
import { turns } from './turn.js';
import { describeValue } from './value-names.js';

type MaybePromise<T> = T | Promise<T>;

/**
 * The value of a formula as plain JSON, a copy; undefined where it has none. There at once for what the direct
 * way knows (plain paths that meet no list, and simple conditions, texts and defaults of them), else a promise. Throws, or rejects with, `FormulaError`.
 */
export function evaluate(
  formula: Formula,
  bindings: Bindings,
  surroundings: Surroundings,
): MaybePromise<JsonValue | undefined> {
  const { direct } = formula.program;
  if (direct) {
    try {
      const value = direct(bindings);
      if (value !== giveUp) return value === undefined ? undefined : toPlainJson(value);
    } catch (error) {
      throw explain(error, formula.text);
    }
  }
  return run(formula, bindings, surroundings);
}

/** The value of a condition. Anything but true and false, absent included, is a `FormulaError`. */
export function evaluateCondition(
  formula: Formula,
  bindings: Bindings,
  surroundings: Surroundings,
): MaybePromise<boolean> {
  return whenThere(evaluate(formula, bindings, surroundings), (value) => {
    if (typeof value === 'boolean') return value;
    throw new FormulaError({
      formula: formula.text,
      reason: value === undefined ? 'absent' : 'type',
      detail: `a condition must be true or false, but this one is ${describeValue(value)}${conditionRemedy(formula, value)}`,
    });
  });
}

/**
 * The list of a `forEach`. A plain path must lead to a list, unless it meets one on the way. JSONata collapses
 * what it maps and filters, so for any other formula one value counts as a list of one, none as an empty list.
 */
export function evaluateList(
  formula: Formula,
  bindings: Bindings,
  surroundings: Surroundings,
): MaybePromise<JsonValue[]> {
  const { path } = formula.program;
  const mustBeList = path !== undefined && readPath(path, bindings) !== giveUp;
  return whenThere(evaluate(formula, bindings, surroundings), (value) => {
    if (Array.isArray(value)) return value;
    if (!mustBeList) return value === undefined ? [] : [value];
    throw new FormulaError({
      formula: formula.text,
      reason: value === undefined ? 'absent' : 'type',
      detail:
        `\`forEach\` needs a list, but this is ${describeValue(value)}; ` +
        (value === undefined
          ? `if it may be missing, write \`${formula.text} ?? []\``
          : `to treat one value as a list of one, write \`[${formula.text}]\``),
    });
  });
}

/** Goes on at once where the value is there. */
export function whenThere<T, U>(value: MaybePromise<T>, next: (value: T) => U): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function conditionRemedy(formula: Formula, value: JsonValue | undefined): string {
  const text = formula.text.length > 60 ? '…' : formula.text;
  if (value === undefined) return `; ask \`$exists(${text})\`, or give a default: \`${text} ?? false\``;
  if (typeof value === 'string') return `; compare it, as in \`${text} = "…"\``;
  if (typeof value === 'number') return `; compare it, as in \`${text} > 0\``;
  if (Array.isArray(value)) return `; ask for its length, as in \`$count(${text}) > 0\``;
  return '';
}

async function run(formula: Formula, bindings: Bindings, surroundings: Surroundings): Promise<JsonValue | undefined> {
  const { expression, hasTransform } = formula.program;
  const evaluation = new Evaluation(surroundings, { hasTransform });
  const waiting = turns.take(evaluation);
  if (waiting) await waiting;
  evaluation.begin();
  try {
    const bound = boundValues(formula, bindings);
    bound[evaluationVariable] = evaluation;
    const value: unknown = await expression.evaluate(undefined, bound);
    return value === undefined ? undefined : toPlainJson(value);
  } catch (error) {
    throw explain(error, formula.text);
  } finally {
    turns.pass();
  }
}

/**
 * What the formula names and nothing else. Handed-in data goes in as it is, unless JSONata would write on it:
 * copying a payload costs more than most formulas.
 */
function boundValues(formula: Formula, bindings: Bindings): Record<string, unknown> {
  const { writesOnBindings } = formula.program;
  const own = (value: JsonValue | undefined): JsonValue | undefined =>
    writesOnBindings && value !== undefined ? structuredClone(value) : value;
  const bound: Record<string, unknown> = {};
  for (const name of formula.variables) bound[name] = own(bindings.variable(name));

  const ids = formula.steps === 'all' ? bindings.stepIds() : formula.steps;
  const steps: Record<string, JsonValue> = {};
  let named = formula.steps === 'all';
  for (const id of ids) {
    named = true;
    const value = own(bindings.step(id));
    if (value !== undefined) steps[id] = value;
  }
  if (named) bound['steps'] = steps;
  return bound;
}
