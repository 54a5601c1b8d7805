import { type FormulaNode, formulaChildren } from '../../expression/index.js';
import type { Condition, FlowItem } from '../flow-model.js';
import { comparedWith, foldFormula } from './fold-formula.js';
import { bare, isFleeting, plainText, stepReadBy, treeOf } from './formula-text.js';

/**
 * What is known at a place because of the conditions on the way to it.
 * - `given`: the step has an output; `isSure` where that follows, else its author is taken to have seen to its absence
 * - `absent`: what was read of the step is not there
 * - `truth`: a formula of this text was true, or false. `equal`: it says that something is a literal value
 * - `loop`: what comes after is known of a turn of this loop
 * - `later-turn`: that is not its first turn
 */
export type Fact =
  | { readonly kind: 'given'; readonly step: string; readonly isSure: boolean }
  | { readonly kind: 'absent'; readonly step: string }
  | {
      readonly kind: 'truth';
      readonly text: string;
      readonly value: boolean;
      readonly equal?: { readonly subject: string; readonly literal: unknown };
    }
  | { readonly kind: 'loop'; readonly item: FlowItem }
  | { readonly kind: 'later-turn' };

/** A list that shares its tail with those of the places before it. */
export type Facts = { readonly fact: Fact; readonly rest: Facts } | undefined;

export function withFacts(facts: Facts, more: readonly Fact[]): Facts {
  return more.reduce<Facts>((rest, fact) => ({ fact, rest }), facts);
}

export function isGiven(facts: Facts, step: string): boolean {
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'given' && each.fact.step === step) return true;
  }
  return false;
}

/** The steps of which nothing was found. */
export function absentIn(facts: Facts): string[] {
  const steps: string[] = [];
  for (let each = facts; each !== undefined; each = each.rest)
    if (each.fact.kind === 'absent') steps.push(each.fact.step);
  return steps;
}

/** Whether it is known that this is not the first turn of that loop. */
export function isLaterTurn(facts: Facts, loop: FlowItem): boolean {
  let isLater = false;
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'later-turn') isLater = true;
    if (each.fact.kind !== 'loop') continue;
    if (each.fact.item === loop) return isLater;
    isLater = false;
  }
  return false;
}

/** What is left of what was known in a loop once it is over. */
export function outOfLoop(facts: Facts, before: Facts): Facts {
  const left = sinceBase(facts, before).filter(({ kind }) => kind !== 'loop' && kind !== 'later-turn');
  return withFacts(before, left);
}

/** Whether one of the two places cannot be reached where the other is. */
export function contradict(some: Facts, others: Facts): boolean {
  for (let each = some; each !== undefined; each = each.rest) {
    const { fact } = each;
    if (fact.kind !== 'truth') continue;
    if (truthIn(others, fact.text) === !fact.value) return true;
    if (fact.equal !== undefined && fact.value && isOtherwiseEqual(others, fact.equal)) return true;
  }
  return false;
}

function isOtherwiseEqual(facts: Facts, { subject, literal }: { subject: string; literal: unknown }): boolean {
  for (let each = facts; each !== undefined; each = each.rest) {
    const { fact } = each;
    if (fact.kind !== 'truth' || !fact.value || fact.equal?.subject !== subject) continue;
    if (fact.equal.literal !== literal) return true;
  }
  return false;
}

/** The newest that is known of a formula of this text. */
function truthIn(facts: Facts, text: string): boolean | undefined {
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'truth' && each.fact.text === text) return each.fact.value;
  }
  return undefined;
}

/** Whether it is known, in `finally`, that the run has completed. */
export function isCompletedBy(facts: Facts): boolean {
  return truthIn(facts, '$run.status = "completed"') === true || truthIn(facts, '$exists($error)') === false;
}

/** What holds after each of several ways, all of which began with `base`. */
export function sharedFacts(ways: readonly Facts[], base: Facts): Facts {
  const [first, ...others] = ways.map((way) => sinceBase(way, base));
  if (first === undefined) return base;
  if (others.length === 0) return ways[0];
  const shared = first.filter((fact) => isLasting(fact) && others.every((facts) => includes(facts, fact)));
  return withFacts(base, shared);
}

function isLasting(fact: Fact): boolean {
  return fact.kind !== 'given' || fact.isSure;
}

function includes(facts: readonly Fact[], fact: Fact): boolean {
  return facts.some((other) => isSame(fact, other) && isLasting(other));
}

function sinceBase(facts: Facts, base: Facts): Fact[] {
  const found: Fact[] = [];
  for (let each = facts; each !== base && each !== undefined; each = each.rest) found.push(each.fact);
  return found.reverse();
}

function isSame(some: Fact, other: Fact): boolean {
  if (some.kind === 'given' || some.kind === 'absent') return other.kind === some.kind && some.step === other.step;
  if (some.kind === 'truth') return other.kind === 'truth' && some.text === other.text && some.value === other.value;
  return some.kind === other.kind;
}

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

function outcomesOf(node: FormulaNode, text: string): Outcomes {
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
  return some.filter((fact) => others.some((other) => isSame(fact, other)));
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
