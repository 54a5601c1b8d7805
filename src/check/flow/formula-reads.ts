import { type FormulaNode, type PathNode, inspectFormula } from '../../expression/index.js';
import type { FormulaUse } from '../flow-model.js';
import { type Fact } from './facts.js';
import { impliedBy, notFound } from './implications.js';
import { bare, stepReadBy, treeOf } from './formula-text.js';

/** A `$steps.<id>` in a formula. */
export interface StepRead {
  readonly id: string;
  /** Of the id alone, in the text of the formula. */
  readonly start: number;
  readonly end: number;
  /** Whether the formula fails, or its field has no value, where the step has no output. */
  readonly isNeeded: boolean;
  /** What is known there because of the rest of the formula. */
  readonly facts: readonly Fact[];
}

/** Every step that a formula reads, in the order of the text. Empty for a text that is no formula. */
export function readsOf({ text, use }: FormulaUse): StepRead[] {
  const inspected = inspectFormula(text);
  if (!inspected.ok || inspected.steps.length === 0) return [];
  const tree = treeOf(text);
  if (tree === undefined) return inspected.steps.map((step) => ({ ...step, isNeeded: false, facts: [] }));
  const reader = new Reader(text);
  // The list of a `forEach` may be absent, save where the formula is a plain path.
  reader.visit(tree, { isNeeded: use !== 'list' || isPlainPath(bare(tree)), isStrict: true, facts: [] });
  return reader.reads.sort((a, b) => a.start - b.start);
}

interface Around {
  /** Whether an absent value would be a mistake here. */
  readonly isNeeded: boolean;
  /** Whether operands must have a value: not in predicates and the like, nor in functions that may never be called. */
  readonly isStrict: boolean;
  readonly facts: readonly Fact[];
}

/** Functions that have no value where their first argument has none. */
const passingOn: ReadonlySet<string> = new Set([
  ...['string', 'length', 'substring', 'substringBefore', 'substringAfter', 'uppercase', 'lowercase', 'trim', 'pad'],
  ...['contains', 'split', 'join', 'match', 'replace', 'base64encode', 'base64decode', 'encodeUrl', 'decodeUrl'],
  ...['encodeUrlComponent', 'decodeUrlComponent', 'formatNumber', 'formatBase', 'formatInteger', 'parseInteger'],
  ...['number', 'abs', 'floor', 'ceil', 'round', 'power', 'sqrt', 'sum', 'max', 'min', 'average', 'boolean'],
  ...['toMillis', 'fromMillis', 'addDuration', 'map', 'filter', 'single', 'reduce', 'each', 'sift', 'sort', 'reverse'],
  ...['distinct', 'keys', 'lookup', 'spread', 'merge', 'type'],
]);

class Reader {
  readonly reads: StepRead[] = [];

  constructor(private readonly text: string) {}

  visit(node: FormulaNode, around: Around): void {
    const { isStrict, facts } = around;
    const required = { ...around, isNeeded: isStrict };
    const free = { ...around, isNeeded: false };
    switch (node.kind) {
      case 'literal':
      case 'regex':
      case 'variable':
      case 'context':
        return;
      case 'path':
        return this.#path(node, around);
      case 'binary': {
        this.visit(node.left, required);
        if (node.operator !== 'and' && node.operator !== 'or') return this.visit(node.right, required);
        return this.visit(node.right, this.#given(required, node.left, node.operator === 'and'));
      }
      case 'negate':
        return this.visit(node.operand, required);
      case 'conditional':
        this.visit(node.condition, required);
        this.visit(node.then, this.#given(around, node.condition, true));
        if (node.otherwise) this.visit(node.otherwise, this.#given(around, node.condition, false));
        return;
      case 'default':
        this.visit(node.left, free);
        return this.visit(node.right, { ...around, facts: [...facts, ...notFound(node.left)] });
      case 'call':
        return this.#call(node.function, node.arguments, node.callee, around);
      case 'apply': {
        const { right } = node;
        const called = right.kind === 'call' ? right.function : right.kind === 'variable' ? right.name : undefined;
        const rest = right.kind === 'call' ? right.arguments : [right];
        return this.#call(called, [node.left, ...rest], undefined, around);
      }
      case 'block':
        node.expressions.forEach((each, index) => {
          this.visit(each, index === node.expressions.length - 1 ? around : free);
        });
        return;
      case 'bind':
        return this.visit(node.value, free);
      case 'list':
        for (const item of node.items) this.visit(item, free);
        return;
      case 'range':
        this.visit(node.from, required);
        return this.visit(node.to, required);
      case 'object':
        for (const { key, value } of node.pairs) {
          this.visit(key, required);
          this.visit(value, required);
        }
        return;
      case 'partial':
        for (const argument of node.arguments) if (argument) this.visit(argument, free);
        return;
      case 'lambda':
        return this.visit(node.body, { isNeeded: false, isStrict: false, facts });
      case 'transform':
        for (const part of [node.pattern, node.update, node.delete]) {
          if (part) this.visit(part, { isNeeded: false, isStrict: false, facts });
        }
        return;
    }
  }

  #path(node: PathNode, around: Around): void {
    const [first, second] = node.steps;
    const within: Around = { isNeeded: false, isStrict: false, facts: around.facts };
    const isNeeded = around.isNeeded && node.group === undefined;
    const id = stepReadBy(node);
    if (id !== undefined && second?.kind === 'name') {
      this.reads.push({ id, ...rangeOf(second.nameSpan), isNeeded, facts: around.facts });
    } else if (first.kind === 'expression') {
      this.visit(first.node, { ...around, isNeeded });
    }
    node.steps.forEach((step, index) => {
      if (index > 0 && step.kind === 'expression') this.visit(step.node, within);
      if (step.kind === 'sort') for (const term of step.terms) this.visit(term.node, within);
      for (const stage of step.stages) if (stage.kind === 'filter') this.visit(stage.node, within);
    });
    for (const { key, value } of node.group?.pairs ?? []) {
      this.visit(key, within);
      this.visit(value, within);
    }
  }

  #call(
    name: string | undefined,
    given: readonly FormulaNode[],
    callee: FormulaNode | undefined,
    around: Around,
  ): void {
    const free = { ...around, isNeeded: false };
    if (callee !== undefined) this.visit(callee, free);
    given.forEach((argument, index) => {
      if (name === 'not') this.visit(argument, { ...around, isNeeded: around.isStrict });
      else this.visit(argument, index === 0 && name !== undefined && passingOn.has(name) ? around : free);
    });
  }

  #given(around: Around, condition: FormulaNode, value: boolean): Around {
    return { ...around, facts: [...around.facts, ...impliedBy(condition, this.text, value)] };
  }
}

/** `$a.b.c` and nothing else. */
function isPlainPath(node: FormulaNode): boolean {
  if (node.kind !== 'path' || node.group !== undefined) return false;
  return node.steps.every(({ kind, stages }, index) => stages.length === 0 && (index === 0 || kind === 'name'));
}

function rangeOf({ start, end }: { readonly start: number; readonly end: number }): { start: number; end: number } {
  return { start, end };
}
