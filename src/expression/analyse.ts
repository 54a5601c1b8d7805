import { FormulaSyntaxError } from './formula-error.js';
import { functionNames } from './functions.js';
import { type ChildRole, type JsonataNode, childrenOf } from './jsonata-tree.js';
import { type FreeVariable, stepMentions } from './names.js';
import { parseFormula } from './parse.js';
import { Spans } from './spans.js';

/**
 * - `syntax`: the text is no formula
 * - `eval`: `$eval` is used
 * - `unknown-variable`, `unknown-function`: `name` (without `$`) is none of those known
 * - `bare-name`: `name` without `$`, where it can never have a value
 * - `length`: a suspicion only: `.length`, which JavaScript has and JSON data seldom
 */
export type FormulaProblemKind = 'syntax' | 'eval' | 'unknown-variable' | 'unknown-function' | 'bare-name' | 'length';

/** A mistake in a formula that can be seen without its data. Offsets are into the text analysed. */
export interface FormulaProblem {
  kind: FormulaProblemKind;
  /** The name that is wrong, where it is one; the caller knows what it may have been meant to be. */
  name?: string;
  message: string;
  start: number;
  end: number;
  help?: string;
}

/**
 * All mistakes that can be seen in a formula, with or without its `=`, in the order of the text. A text that
 * does not compile has one. `knownVariables`: names, without `$`, that have a value where the formula stands.
 */
export function analyseFormula(text: string, knownVariables: ReadonlySet<string>): FormulaProblem[] {
  let parsed;
  try {
    parsed = parseFormula(text);
  } catch (error) {
    if (!(error instanceof FormulaSyntaxError)) throw error;
    const { message, start, end, help } = error;
    return [{ kind: 'syntax', message, start, end, ...(help === undefined ? {} : { help }) }];
  }
  const { body, offset, tree, free } = parsed;
  const problems = [...variableProblems(free, body, knownVariables), ...nameProblems(tree, body, knownVariables)];
  return problems
    .map((problem) => ({ ...problem, start: problem.start + offset, end: problem.end + offset }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Every `$steps.<id>` of a formula, with the range of the id alone. Empty for a text that does not compile. */
export function stepReferences(text: string): { id: string; start: number; end: number }[] {
  let parsed;
  try {
    parsed = parseFormula(text);
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return [];
    throw error;
  }
  const { body, offset, tree, free } = parsed;
  const spans = new Spans(body);
  return stepMentions(tree, free)
    .mentions.map(({ id, node }) => {
      const token = spans.tokenEndingAt(node.position);
      const end = token?.end ?? body.length;
      const quotes = token !== undefined && /^[`"']/.test(token.text) ? 1 : 0;
      return { id, start: offset + (token?.start ?? end) + quotes, end: offset + end - quotes };
    })
    .sort((a, b) => a.start - b.start);
}

function variableProblems(free: readonly FreeVariable[], body: string, known: ReadonlySet<string>): FormulaProblem[] {
  const spans = new Spans(body);
  const problems: FormulaProblem[] = [];
  for (const { name, node, called } of free) {
    const token = spans.tokenEndingAt(node.position);
    if (!token || name === '' || name === '$' || functionNames.has(name)) continue;
    const { start, end } = token;
    if (name === 'eval') {
      problems.push({ kind: 'eval', name, message: '`$eval` is not available in formulas', start, end });
    } else if (called && !known.has(name)) {
      problems.push({ kind: 'unknown-function', name, message: `there is no function \`$${name}\``, start, end });
    } else if (called) {
      problems.push({ kind: 'unknown-function', name, message: `\`$${name}\` is a value, not a function`, start, end });
    } else if (!known.has(name)) {
      problems.push({ kind: 'unknown-variable', name, message: `there is no variable \`$${name}\` here`, start, end });
    }
  }
  return problems;
}

/** Names that are read from the context, which is empty outside predicates, later steps, sort terms and groupings. */
function nameProblems(tree: JsonataNode, body: string, known: ReadonlySet<string>): FormulaProblem[] {
  const spans = new Spans(body);
  const problems: FormulaProblem[] = [];
  const report = (node: JsonataNode, problem: Omit<FormulaProblem, 'start' | 'end'>): void => {
    const token = spans.tokenEndingAt(node.position);
    if (token) problems.push({ ...problem, start: token.start, end: token.end });
  };

  const visit = (node: JsonataNode, role: ChildRole): void => {
    const called = calledBareName(node);
    if (called) {
      const name = String(called.value);
      report(called, {
        kind: 'unknown-function',
        name,
        message: `\`${name}(…)\` is no function: functions begin with \`$\``,
        ...(functionNames.has(name) && { help: `write \`$${name}(…)\`, with what it works on as its first argument` }),
      });
    }
    const steps = node.steps ?? [];
    const [first] = steps;
    if (first && role === 'context' && first.type === 'name' && first !== called)
      report(first, bareName(first, steps, known));
    if (role === 'context' && isContext(node)) {
      const name = node.type === 'variable' ? `$${String(node.value)}` : node.type === 'wildcard' ? '*' : '**';
      report(node, {
        kind: 'bare-name',
        name,
        message: `\`${name}\` is empty here: a formula has no context, only variables`,
        help: 'begin with a variable, as in `$input`',
      });
    }
    const last = steps.at(-1);
    if (last && steps.length > 1 && last.type === 'name' && last.value === 'length') {
      report(last, {
        kind: 'length',
        name: 'length',
        message: '`.length` is a field called length here, not a number of items or characters',
        help: '`$count(…)` counts the items of a list, `$length(…)` the characters of a text',
      });
    }
    for (const child of childrenOf(node)) {
      if (called && child.node === node.procedure) continue;
      visit(child.node, role === 'items' ? 'items' : child.role);
    }
  };
  visit(tree, 'context');
  return problems;
}

/** The name of `count(…)`, where `$count(…)` is meant. */
function calledBareName(node: JsonataNode): JsonataNode | undefined {
  if (node.type !== 'function' && node.type !== 'partial') return undefined;
  const [only, second] = node.procedure?.steps ?? [];
  return only?.type === 'name' && second === undefined ? only : undefined;
}

function isContext(node: JsonataNode): boolean {
  if (node.type === 'variable') return node.value === '' || node.value === '$';
  return node.type === 'wildcard' || node.type === 'descendant';
}

function bareName(
  first: JsonataNode,
  steps: readonly JsonataNode[],
  known: ReadonlySet<string>,
): Omit<FormulaProblem, 'start' | 'end'> {
  const name = String(first.value);
  const message = `\`${name}\` stands for nothing here: names outside a list's \`[…]\` begin with a variable`;
  const problem = { kind: 'bare-name' as const, name, message };
  if (known.has(name)) return { ...problem, help: `did you mean \`$${name}\`?` };
  if (['True', 'False', 'Null', 'TRUE', 'FALSE', 'NULL'].includes(name))
    return { ...problem, help: `write \`${name.toLowerCase()}\`` };
  if (name === 'undefined' || name === 'None') return { ...problem, help: 'ask `$exists(…)`, or compare with `null`' };
  const path = steps.filter((step) => step.type === 'name').map((step) => String(step.value));
  return {
    ...problem,
    help: `did you mean \`$input.${path.join('.')}\`? As text it is written \`"${path.join('.')}"\``,
  };
}
