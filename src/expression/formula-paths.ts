import type { FormulaNode, PathNode, PathStep, Stage } from './formula-tree.js';

/*
 * How JSONata makes paths of what is written: a name, or an expression with something hanging on it, is a path of one step.
 */

export function pathOf(step: PathStep): PathNode {
  return { kind: 'path', start: step.start, end: step.end, steps: [step] };
}

/** `-5` is one number, whatever hangs on it. */
export function negativeNumber(operand: FormulaNode, start: number): FormulaNode | undefined {
  if (operand.kind === 'literal')
    return typeof operand.value === 'number' ? { ...operand, start, value: -operand.value } : undefined;
  if (operand.kind !== 'path' || operand.steps.length > 1) return undefined;
  const [step] = operand.steps;
  if (step.kind !== 'expression' || step.stages.some(({ kind }) => kind === 'index')) return undefined;
  const node = negativeNumber(step.node, start);
  return node && { ...operand, start, steps: [{ ...step, start, node }] };
}

/** The path itself, or that of one step, the expression. */
export function asPath(node: FormulaNode): PathNode {
  return node.kind === 'path' ? node : wrapped(node);
}

/** A path that goes on: a grouping of names groups the whole of it, one of another expression that expression. */
export function asOpenPath(node: FormulaNode): PathNode {
  if (node.kind !== 'path') return wrapped(node);
  const isGrouped = node.group !== undefined && node.steps.length === 1 && node.steps[0].kind !== 'name';
  return isGrouped ? wrapped(node) : node;
}

export function wrapped(node: FormulaNode): PathNode {
  return pathOf({
    kind: 'expression',
    start: node.start,
    end: node.end,
    node,
    stages: [] as Stage[],
    keepsList: false,
  });
}

/** Whether a path is nothing but one of these names. */
export function isNamed({ steps, group }: PathNode, names: readonly string[]): boolean {
  const [only, second] = steps;
  if (only.kind !== 'name' || only.stages.length > 0 || second !== undefined || group !== undefined) return false;
  return names.includes(only.name);
}
