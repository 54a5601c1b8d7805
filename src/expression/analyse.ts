import { type FormulaNode, type PathStep, walkFormula } from './formula-tree.js';
import { functionNames } from './functions.js';
import { type SoundFormula, type StepReference, inspectFormula } from './inspect.js';
import type { Span } from './spans.js';

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
  const inspected = inspectFormula(text);
  if (!inspected.ok) {
    const { message, start, end, help } = inspected.error;
    return [{ kind: 'syntax', message, start, end, ...(help === undefined ? {} : { help }) }];
  }
  const problems = [...variableProblems(inspected, knownVariables), ...nameProblems(inspected.tree, knownVariables)];
  return problems.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Every `$steps.<id>` of a formula, with the range of the id alone. Empty for a text that does not compile. */
export function stepReferences(text: string): readonly StepReference[] {
  const inspected = inspectFormula(text);
  return inspected.ok ? inspected.steps : [];
}

function variableProblems({ free }: SoundFormula, known: ReadonlySet<string>): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  for (const { node, called } of free) {
    const { name, start, end } = node;
    if (functionNames.has(name)) continue;
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
function nameProblems(tree: FormulaNode, known: ReadonlySet<string>): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  const called = new Set<FormulaNode>();
  walkFormula(tree, (node, role) => {
    if (node.kind === 'call' || node.kind === 'partial') {
      const name = nameAlone(node.callee);
      if (name !== undefined) {
        called.add(node.callee);
        problems.push(bareCall(name, node.callee));
      }
    }
    if (node.kind === 'context' && role === 'context') problems.push(emptyContext(node.name, node));
    if (node.kind !== 'path') return;
    const [first] = node.steps;
    if (role === 'context' && first.kind === 'name' && !called.has(node)) {
      problems.push({ ...bareName(first.name, node.steps, known), start: first.start, end: first.end });
    }
    if (role === 'context' && (first.kind === 'wildcard' || first.kind === 'descendant')) {
      problems.push(emptyContext(first.kind === 'wildcard' ? '*' : '**', first));
    }
    const last = node.steps.at(-1);
    if (last?.kind === 'name' && node.steps.length > 1 && last.name === 'length') {
      problems.push({
        kind: 'length',
        name: 'length',
        message: '`.length` is a field called length here, not a number of items or characters',
        start: last.start,
        end: last.end,
        help: '`$count(…)` counts the items of a list, `$length(…)` the characters of a text',
      });
    }
  });
  return problems;
}

/** The name of `count(…)`, where `$count(…)` is meant. */
function nameAlone(callee: FormulaNode): string | undefined {
  if (callee.kind !== 'path' || callee.steps.length > 1) return undefined;
  const [only] = callee.steps;
  return only.kind === 'name' ? only.name : undefined;
}

function bareCall(name: string, { start, end }: Span): FormulaProblem {
  const problem: FormulaProblem = {
    kind: 'unknown-function',
    name,
    message: `\`${name}(…)\` is no function: functions begin with \`$\``,
    start,
    end,
  };
  if (!functionNames.has(name)) return problem;
  return { ...problem, help: `write \`$${name}(…)\`, with what it works on as its first argument` };
}

function emptyContext(name: string, { start, end }: Span): FormulaProblem {
  return {
    kind: 'bare-name',
    name,
    message: `\`${name}\` is empty here: a formula has no context, only variables`,
    start,
    end,
    help: 'begin with a variable, as in `$input`',
  };
}

function bareName(
  name: string,
  steps: readonly PathStep[],
  known: ReadonlySet<string>,
): Omit<FormulaProblem, 'start' | 'end'> {
  const message = `\`${name}\` stands for nothing here: names outside a list's \`[…]\` begin with a variable`;
  const problem = { kind: 'bare-name' as const, name, message };
  if (known.has(name)) return { ...problem, help: `did you mean \`$${name}\`?` };
  if (['True', 'False', 'Null', 'TRUE', 'FALSE', 'NULL'].includes(name))
    return { ...problem, help: `write \`${name.toLowerCase()}\`` };
  if (name === 'undefined' || name === 'None') return { ...problem, help: 'ask `$exists(…)`, or compare with `null`' };
  const path = steps.flatMap((step) => (step.kind === 'name' ? [step.name] : []));
  return {
    ...problem,
    help: `did you mean \`$input.${path.join('.')}\`? As text it is written \`"${path.join('.')}"\``,
  };
}
