import { type FormulaNode, formulaChildren } from '../../expression/index.js';
import type { Condition } from '../flow-model.js';
import { type Fact, type Facts, isSameFact, truthIn } from './facts.js';
import { comparedWith, foldFormula } from './fold-formula.js';
import { bare, isFleeting, plainText, stepReadBy, treeOf } from './formula-text.js';

/** The value that a condition always has, if it has one. */
export function constantCondition({ formula, literal }: Condition): boolean | undefined {
  if (literal !== undefined || formula === undefined) return literal;
  const tree = treeOf(formula.text);
  const value = tree && foldFormula(tree, formula.text);
  return typeof value === 'boolean' ? value : undefined;
}

/** Whether a condition holds, or does not, by what is known; undefined where that does not say. */
export function valueBy(facts: Facts, { formula, literal }: Condition): boolean | undefined {
  if (literal !== undefined || formula === undefined) return literal;
  const tree = treeOf(formula.text);
  return tree && valueOf(tree, formula.text, facts);
}

function valueOf(node: FormulaNode, text: string, facts: Facts): boolean | undefined {
  const folded = foldFormula(node, text);
  if (typeof folded === 'boolean') return folded;
  const { tree, positive } = asserted(node);
  const known = truthIn(facts, assertedText(tree, text));
  if (known !== undefined) return known === positive;
  if (tree.kind !== 'binary' || (tree.operator !== 'and' && tree.operator !== 'or')) return undefined;
  const decisive = tree.operator === 'or';
  const [left, right] = [valueOf(tree.left, text, facts), valueOf(tree.right, text, facts)];
  if (left === decisive || right === decisive) return decisive === positive;
  return left === undefined || right === undefined ? undefined : !decisive === positive;
}

/** What follows from a condition having come out true, or false. */
export function implied({ formula }: Condition, value: boolean): readonly Fact[] {
  const tree = formula && treeOf(formula.text);
  return tree === undefined ? [] : impliedBy(tree, formula?.text ?? '', value);
}

/**
 * What follows from a part of a formula having come out true, or false. Of a step that is mentioned in a comparison or a
 * function it is taken that the author has seen to its absence, since without an output the condition fails or has a default.
 */
export function impliedBy(node: FormulaNode, text: string, value: boolean): readonly Fact[] {
  const outcomes = outcomesOf(node, text);
  return value ? outcomes.whenTrue : outcomes.whenFalse;
}

interface Outcomes {
  readonly whenTrue: readonly Fact[];
  readonly whenFalse: readonly Fact[];
}

/** A condition is asked about wherever it decides something. */
const found = new WeakMap<FormulaNode, Outcomes>();

function outcomesOf(node: FormulaNode, text: string): Outcomes {
  let outcomes = found.get(node);
  if (outcomes === undefined) {
    outcomes = findOutcomes(node, text);
    found.set(node, outcomes);
  }
  return outcomes;
}

function findOutcomes(node: FormulaNode, text: string): Outcomes {
  const { tree, positive } = asserted(node);
  const found = assertedOutcomes(tree, text);
  const isStable = !changesByItself(tree);
  const truth = (value: boolean): Fact[] => (isStable ? [truthOf(tree, text, value)] : []);
  const whenTrue = [...truth(true), ...found.whenTrue];
  const whenFalse = [...truth(false), ...found.whenFalse];
  return positive ? { whenTrue, whenFalse } : { whenTrue: whenFalse, whenFalse: whenTrue };
}

function assertedOutcomes(tree: FormulaNode, text: string): Outcomes {
  if (tree.kind === 'binary' && (tree.operator === 'and' || tree.operator === 'or')) {
    const left = outcomesOf(tree.left, text);
    const right = outcomesOf(tree.right, text);
    if (tree.operator === 'and') {
      const whenFalse = inBoth(left.whenFalse, [...left.whenTrue, ...right.whenFalse]);
      return { whenTrue: [...left.whenTrue, ...right.whenTrue], whenFalse };
    }
    const whenTrue = inBoth(left.whenTrue, [...left.whenFalse, ...right.whenTrue]);
    return { whenTrue, whenFalse: [...left.whenFalse, ...right.whenFalse] };
  }
  const isQuestion = tree.kind === 'call' && tree.function === 'exists';
  return {
    whenTrue: [...laterTurn(tree, true), ...given(tree, text, true)],
    whenFalse: [...laterTurn(tree, false), ...given(tree, text, false), ...(isQuestion ? notFound(tree) : [])],
  };
}

/** One side decided, or it did not and the other did: what follows either way. */
function inBoth(some: readonly Fact[], others: readonly Fact[]): Fact[] {
  return some.filter((fact) => others.some((other) => isSameFact(fact, other)));
}

/** The formula without what only turns it round: `$not(a)`, `a = false` and `a != b` say the opposite of `a` and `a = b`. */
function asserted(node: FormulaNode): { tree: FormulaNode; positive: boolean } {
  let tree = bare(node);
  let positive = true;
  for (;;) {
    if (tree.kind === 'call' && tree.function === 'not' && tree.arguments[0] !== undefined) {
      tree = bare(tree.arguments[0]);
      positive = !positive;
    } else if (tree.kind === 'binary' && (tree.operator === '=' || tree.operator === '!=')) {
      const right = bare(tree.right);
      if (right.kind !== 'literal' || typeof right.value !== 'boolean') break;
      if (right.value !== (tree.operator === '=')) positive = !positive;
      tree = bare(tree.left);
    } else break;
  }
  if (tree.kind === 'binary' && opposite[tree.operator] !== undefined) positive = !positive;
  return { tree, positive };
}

/** `a <= b` is taken for the opposite of `a > b`, and so on, so that the two are known by one text. */
const opposite: Readonly<Record<string, string>> = { '!=': '=', '<=': '>', '>=': '<' };

/** The text that stands for what a formula asserts. */
function assertedText(tree: FormulaNode, text: string): string {
  if (tree.kind !== 'binary') return plainText(text, tree);
  const operator = opposite[tree.operator] ?? tree.operator;
  return `${plainText(text, bare(tree.left))} ${operator} ${plainText(text, bare(tree.right))}`;
}

function truthOf(tree: FormulaNode, text: string, outcome: boolean): Fact {
  const equal = comparedWith(tree, '=', text) ?? comparedWith(tree, '!=', text);
  return { kind: 'truth', text: assertedText(tree, text), value: outcome, ...(equal !== undefined && { equal }) };
}

/**
 * The steps that have an output where a condition came out like this: those without which it would have come out the other
 * way. Where that cannot be seen, its author is taken to have seen to it that the step is there.
 */
function given(tree: FormulaNode, text: string, outcome: boolean): Fact[] {
  const facts: Fact[] = [];
  for (const step of mentioned(tree)) {
    const otherwise = foldFormula(tree, text, { absent: step });
    if (otherwise === outcome) continue;
    facts.push({ kind: 'given', step, isSure: typeof otherwise === 'boolean' });
  }
  return facts;
}

/** What follows where a part of a formula has no value. */
export function notFound(tree: FormulaNode): Fact[] {
  return [...mentioned(tree)].map((step) => ({ kind: 'absent', step }));
}

/** Every step that is read in a part of a formula. */
function mentioned(tree: FormulaNode): ReadonlySet<string> {
  const steps = new Set<string>();
  const visit = (node: FormulaNode): void => {
    const step = stepReadBy(node);
    if (step !== undefined) steps.add(step);
    for (const child of formulaChildren(node)) visit(child.node);
  };
  visit(tree);
  return steps;
}

/** Whether what came out cannot be so in the first turn of a loop. */
function laterTurn(tree: FormulaNode, outcome: boolean): Fact[] {
  if (!mentionsIteration(tree)) return [];
  if (tree.kind === 'binary') {
    const number = bare(tree.right);
    const side = bare(tree.left);
    const operator = opposite[tree.operator] ?? tree.operator;
    const isPlain = side.kind === 'variable' && !mentionsIteration(tree.right);
    if (isPlain && number.kind === 'literal' && typeof number.value === 'number') {
      const atFirst = { '=': 0 === number.value, '>': 0 > number.value, '<': 0 < number.value }[operator];
      if (atFirst !== undefined) return atFirst === outcome ? [] : [{ kind: 'later-turn' }];
    }
    // A limit that is not known is taken for one of at least 1.
    if (isPlain && operator === '<' && outcome) return [];
    if (isPlain && operator === '>' && !outcome) return [];
  }
  return [{ kind: 'later-turn' }];
}

/** Whether two evaluations may differ although nothing has happened between them. */
export function changesByItself(node: FormulaNode): boolean {
  if (node.kind === 'call' && node.function !== undefined && isFleeting(node.function)) return true;
  if (node.kind === 'variable' && !node.own && isFleeting(node.name)) return true;
  return formulaChildren(node).some((child) => changesByItself(child.node));
}

function mentionsIteration(node: FormulaNode): boolean {
  if (node.kind === 'variable') return node.name === 'iteration' && !node.own;
  return formulaChildren(node).some((child) => mentionsIteration(child.node));
}
