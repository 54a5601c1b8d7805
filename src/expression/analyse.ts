import { type CallNode, type FormulaNode, type NameStep, type PathNode, type PathStep } from './formula-tree.js';
import { nearest } from '../syntax/index.js';
import { functionNames } from './functions.js';
import { bindingProblems } from './bindings.js';
import { type SoundFormula, type StepReference, inspectFormula } from './inspect.js';
import { indexProblems, outputsProblems, textArithmetic, unquotedDates, variablesInTexts } from './misreadings.js';
import { globalObjects, otherVariables, ownForm } from './other-functions.js';
import type { Span } from './spans.js';
import { openingQuote, plainQuotes, quotedText } from './written-quotes.js';

/**
 * - `syntax`: the text is no formula
 * - `eval`: `$eval` is used
 * - `unknown-variable`, `unknown-function`: `name` (without `$`) is none of those known
 * - `bare-name`: `name` without `$`, where it can never have a value
 * - `length`: a suspicion only: `.length`, which JavaScript has and JSON data seldom
 * - `outputs`: a suspicion only: `$steps.x.outputs`, where `$steps.x` is the output
 * - `text-arithmetic`: a text beside `+`, `-`, `*`, `/` or `%`
 * - `index`: a field looked up in `[…]`
 * - `default-of-more`: a suspicion only: `$a ?? 0 > 5`, where all of `0 > 5` is the default
 * - `unused-default`: `1 + $a ?? 0`, where the sum fails before its default could be used
 * - `comparisons`: `1 < $n < 5`
 * - `text-variable`: a suspicion only: `"Hello $input.name"`
 */
export type FormulaProblemKind =
  | 'syntax'
  | 'eval'
  | 'unknown-variable'
  | 'unknown-function'
  | 'bare-name'
  | 'length'
  | 'outputs'
  | 'text-arithmetic'
  | 'index'
  | 'default-of-more'
  | 'unused-default'
  | 'comparisons'
  | 'text-variable';

/** A mistake in a formula that can be seen without its data. Offsets are into the text analysed. */
export interface FormulaProblem {
  kind: FormulaProblemKind;
  /** The name that is wrong, where it is one; the caller knows what it may have been meant to be. */
  name?: string;
  message: string;
  start: number;
  end: number;
  help: string;
}

/** Names, without `$`, that have a value where a formula stands. */
export type KnownVariables = Pick<ReadonlySet<string>, 'has'>;

/**
 * All mistakes that can be seen in a formula, with or without its `=`, in the order of the text. A text that
 * does not compile has one.
 */
export function analyseFormula(text: string, knownVariables: KnownVariables): FormulaProblem[] {
  const inspected = inspectFormula(text);
  if (!inspected.ok) {
    const { message, start, end, help } = inspected.error;
    return [{ kind: 'syntax', message, start, end, help }];
  }
  const problems = [
    ...variableProblems(inspected, text, knownVariables),
    ...nameProblems(inspected, text, knownVariables),
    ...textArithmetic(inspected, text),
    ...indexProblems(inspected, text),
    ...outputsProblems(inspected, text),
    ...unquotedDates(inspected, text),
    ...bindingProblems(inspected, text),
    ...variablesInTexts(inspected, text, knownVariables),
  ];
  return problems.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Every `$steps.<id>` of a formula, with the range of the id alone. Empty for a text that does not compile. */
export function stepReferences(text: string): readonly StepReference[] {
  const inspected = inspectFormula(text);
  return inspected.ok ? inspected.steps : [];
}

function variableProblems({ free, nodes }: SoundFormula, text: string, known: KnownVariables): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  for (const { node, called } of free) {
    const { name, start, end } = node;
    if (functionNames.has(name)) continue;
    if (name === 'eval') {
      problems.push({
        kind: 'eval',
        name,
        message: '`$eval` is not available in formulas',
        start,
        end,
        help: 'write out what is to be computed',
      });
    } else if (called && !known.has(name)) {
      const call = nodes.find((each) => each.node.kind === 'call' && each.node.callee === node)?.node as
        CallNode | undefined;
      const args = call?.arguments.map((each) => text.slice(each.start, each.end)) ?? [];
      const message = `there is no function \`$${name}\``;
      problems.push({
        kind: 'unknown-function',
        name,
        message,
        start,
        end,
        help: ownForm(name, args, functionNames) ?? noSuchFunction(name),
      });
    } else if (called) {
      const message = `\`$${name}\` is a value, not a function`;
      const help = `write \`$${name}\` without brackets, or \`[…]\` for one of its items`;
      problems.push({ kind: 'unknown-function', name, message, start, end, help });
    } else if (!known.has(name)) {
      const message = `there is no variable \`$${name}\` here`;
      const help = 'a formula reads only the variables of the place where it stands';
      problems.push({ kind: 'unknown-variable', name, message, start, end, help });
    }
  }
  return problems;
}

/** Names that are read from the context, which is empty outside predicates, later steps, sort terms and groupings. */
function nameProblems({ nodes }: SoundFormula, text: string, known: KnownVariables): FormulaProblem[] {
  const problems: FormulaProblem[] = [];
  const told = new Set<FormulaNode>();
  for (const { node, role } of nodes) {
    if (node.kind === 'path') {
      for (const [index, step] of node.steps.entries()) {
        const call = index > 0 && step.kind === 'expression' ? step.node : undefined;
        const name = call === undefined ? undefined : bareCallee(call);
        if (call === undefined || name === undefined) continue;
        told.add(call);
        const problem = methodCall(call, name, node, index, text);
        // `Math.round(…)`: the call says it all, and nothing has to be said of `Math`.
        if (isGlobal(node.steps, index)) told.add(node);
        problems.push(problem);
      }
    }
    const name = bareCallee(node);
    if (name !== undefined) {
      told.add((node as CallNode).callee);
      if (!told.has(node)) problems.push(bareCall(name, node as CallNode, text));
    }
    if (node.kind === 'context' && role === 'context') problems.push(emptyContext(node.name, node));
    if (node.kind !== 'path') continue;
    const [first] = node.steps;
    if (role === 'context' && first.kind === 'name' && !told.has(node)) {
      problems.push({ ...bareName(first, node.steps, text, known), start: first.start, end: first.end });
    }
    if (role === 'context' && (first.kind === 'wildcard' || first.kind === 'descendant')) {
      problems.push(emptyContext(first.kind === 'wildcard' ? '*' : '**', first));
    }
    const last = node.steps.at(-1);
    if (last?.kind === 'name' && node.steps.length > 1 && text.slice(last.start, last.end) === 'length') {
      const list = text.slice(node.start, node.steps.at(-2)?.end ?? node.start);
      problems.push({
        kind: 'length',
        name: 'length',
        message: '`.length` is a field called length here, not a number of items or characters',
        start: last.start,
        end: last.end,
        help: `\`$count(${list})\` counts the items of a list, \`$length(${list})\` the characters of a text`,
      });
    }
  }
  return problems;
}

/** The name of `count(…)`, where `$count(…)` is meant. */
function bareCallee(node: FormulaNode): string | undefined {
  if (node.kind !== 'call' && node.kind !== 'partial') return undefined;
  const { callee } = node;
  if (callee.kind !== 'path' || callee.steps.length > 1) return undefined;
  const [only] = callee.steps;
  return only.kind === 'name' ? only.name : undefined;
}

function isGlobal(steps: readonly PathStep[], index: number): boolean {
  const [first] = steps;
  return index === 1 && first?.kind === 'name' && globalObjects.has(first.name);
}

function noSuchFunction(name: string): string {
  const guess = nearest(name, functionNames);
  return guess === undefined ? 'what no function does, a handler can do' : `did you mean \`$${guess}\`?`;
}

/** `$input.name.trim()`, `Math.round($input.total)`. */
function methodCall(call: FormulaNode, name: string, path: PathNode, index: number, text: string): FormulaProblem {
  const { callee, arguments: given } = call as CallNode;
  const args = given.map((each) => text.slice(each.start, each.end));
  const subject = text.slice(path.start, path.steps[index - 1]?.end ?? path.start).replace(/\s*\.\s*$/, '');
  const isStatic = isGlobal(path.steps, index);
  const form = isStatic
    ? ownForm(name, args, functionNames, subject)
    : ownForm(name, [endOf(path, index - 1, text), ...args], functionNames);
  return {
    kind: 'unknown-function',
    name,
    message: `\`${isStatic ? `${subject}.` : ''}${name}(…)\` is no function: functions begin with \`$\``,
    start: isStatic ? path.start : callee.start,
    end: callee.end,
    help: form ?? noSuchFunction(name),
  };
}

/** The text of a path up to and with a step, its predicates too. */
function endOf(path: PathNode, index: number, text: string): string {
  const step = path.steps[index];
  const end = Math.max(step?.end ?? path.start, ...(step?.stages.map((stage) => stage.end) ?? []));
  return text.slice(path.start, end);
}

function bareCall(name: string, { callee, arguments: given }: CallNode, text: string): FormulaProblem {
  const args = given.map((each) => text.slice(each.start, each.end));
  return {
    kind: 'unknown-function',
    name,
    message: `\`${name}(…)\` is no function: functions begin with \`$\``,
    start: callee.start,
    end: callee.end,
    help: ownForm(name, args, functionNames) ?? noSuchFunction(name),
  };
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
  { name, nameSpan, start }: NameStep,
  steps: readonly PathStep[],
  text: string,
  known: KnownVariables,
): Omit<FormulaProblem, 'start' | 'end'> {
  const message = `\`${name}\` stands for nothing here: names outside a list's \`[…]\` begin with a variable`;
  const problem = { kind: 'bare-name' as const, name, message };
  if (nameSpan.start > start && text[start] === '`') {
    const quoted = 'what stands in backquotes is the name of a field; text stands in quotes';
    return { ...problem, message: quoted, help: `write \`${joined(name)}\`` };
  }
  if (openingQuote.test(name)) {
    const words = quotedText(text, start);
    const quotes = `${words.charAt(0)} and ${words.charAt(words.length - 1)} are no quotes in formulas`;
    return { ...problem, message: quotes, help: `write \`${plainQuotes(words)}\`` };
  }
  if (/^(yes|on|no|off)$/i.test(name)) {
    const value = /^(yes|on)$/i.test(name) ? 'true' : 'false';
    return { ...problem, help: `write \`${value}\`; as text it is written \`"${name}"\`` };
  }
  const path = steps.flatMap((step) => (step.kind === 'name' ? [step.name] : []));
  const fields = path.slice(1).join('.');
  const variable = known.has(name) ? name : otherVariables.get(name);
  if (variable !== undefined && known.has(variable)) {
    // What a step gave is `$steps.<id>` itself.
    const own = variable === 'steps' ? fields.replace(/^(\w+)\.(outputs?|results?)(?=\.|$)/, '$1') : fields;
    return { ...problem, help: `did you mean \`$${variable}${own === '' ? '' : `.${own}`}\`?` };
  }
  if (['True', 'False', 'Null', 'TRUE', 'FALSE', 'NULL'].includes(name))
    return { ...problem, help: `write \`${name.toLowerCase()}\`` };
  if (name === 'undefined' || name === 'None') return { ...problem, help: 'ask `$exists(…)`, or compare with `null`' };
  return {
    ...problem,
    help: `did you mean \`$input.${path.join('.')}\`? As text it is written \`"${path.join('.')}"\``,
  };
}

/** The formula for a template literal: `"Hello " & $input.name`. */
function joined(template: string): string {
  const parts = template.split(/\$\{([^}]*)\}/).map((part, index) => {
    if (index % 2 === 0) return part === '' ? '' : JSON.stringify(part);
    return part.trim().startsWith('$') ? part.trim() : `$${part.trim()}`;
  });
  return parts.filter((part) => part !== '').join(' & ');
}
