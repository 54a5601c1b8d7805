import type { Report } from '../../definition/index.js';
import { type FormulaNode, formulaChildren, functionNames, walkFormula } from '../../expression/index.js';
import type { Range } from '../../syntax/index.js';
import type { StepNames } from '../step-names.js';
import type { Condition, FlowItem, FlowModel } from '../flow-model.js';
import { isPlainTrue } from './course.js';
import { changesByItself } from './implications.js';
import { foldFormula } from './fold-formula.js';
import { bare, plainText, stepReadBy, treeOf } from './formula-text.js';

/** Conditions that always come out the same, and loops that nothing in them ends. */
export function checkConditions(model: FlowModel, names: StepNames, report: Report): void {
  const constant = new Set<Condition>();
  for (const condition of model.conditions) {
    const always = constantOf(condition);
    if (always === undefined) continue;
    constant.add(condition);
    const help =
      'remove it, or compare with what may change; a plain `true`, and what reads `$constants`, count as switches';
    report.warning('RS4014', rangeOf(condition), `this condition is always ${always}`, help);
  }
  for (const item of model.items) {
    const { condition } = item;
    if (condition !== undefined && !constant.has(condition)) checkLoop(item, condition, names, report);
  }
}

/** In words; undefined for a condition that may change, or is meant as a switch. */
export function constantOf(condition: Condition): 'true' | 'false' | 'the same' | undefined {
  const { formula, literal } = condition;
  if (isPlainTrue(condition)) return undefined;
  if (literal !== undefined || formula === undefined) return literal === false ? 'false' : undefined;
  const tree = treeOf(formula.text);
  if (tree === undefined || mentions(tree, 'constants')) return undefined;
  const value = foldFormula(tree, formula.text) ?? sameOnBothSides(tree, formula.text);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return value === undefined && isBoolean(tree) && !readsAnything(tree) ? 'the same' : undefined;
}

/** `a = a`, where something else was meant on one side. */
function sameOnBothSides(node: FormulaNode, text: string): boolean | undefined {
  const tree = bare(node);
  if (tree.kind !== 'binary' || changesByItself(tree)) return undefined;
  if (plainText(text, bare(tree.left)) !== plainText(text, bare(tree.right))) return undefined;
  if (['=', '<=', '>='].includes(tree.operator)) return true;
  return ['!=', '<', '>'].includes(tree.operator) ? false : undefined;
}

/** Of other kinds it is said that they are no conditions. */
function isBoolean(node: FormulaNode): boolean {
  const tree = bare(node);
  if (tree.kind === 'binary') return !['&', '+', '-', '*', '/', '%'].includes(tree.operator);
  return tree.kind === 'call' && ['not', 'exists', 'boolean', 'contains'].includes(tree.function ?? '');
}

function readsAnything(tree: FormulaNode): boolean {
  let reads = false;
  walkFormula(tree, (node) => {
    if (node.kind === 'variable' && !node.own && !functionNames.has(node.name)) reads = true;
  });
  return reads || changesByItself(tree);
}

function mentions(node: FormulaNode, variable: string): boolean {
  if (node.kind === 'variable') return node.name === variable && !node.own;
  return formulaChildren(node).some((child) => mentions(child.node, variable));
}

/** A condition that reads only what was settled before the loop: the loop has one turn or none, or no end. */
function checkLoop(loop: FlowItem, condition: Condition, names: StepNames, report: Report): void {
  const [body] = loop.bodies;
  const tree = condition.formula && treeOf(condition.formula.text);
  if (body === undefined || tree === undefined || isPlainTrue(condition)) return;
  if (mentions(tree, 'iteration') || changesByItself(tree) || readsStepsAsWhole(tree)) return;
  const isRead = (id: string): boolean => names.items.get(id)?.within.includes(body) ?? true;
  if (stepsIn(tree).some(isRead) || canBeLeft(body.items)) return;
  const outcome = loop.verb === 'doWhile' ? 'it has no turn, or no end' : 'it has one turn, or no end';
  const help = 'read a step of its body in the condition, or `$iteration`';
  report.warning('RS4016', rangeOf(condition), `nothing in this loop changes its condition, so ${outcome}`, help);
}

function stepsIn(tree: FormulaNode): string[] {
  const ids: string[] = [];
  walkFormula(tree, (node) => {
    const id = stepReadBy(node);
    if (id !== undefined) ids.push(id);
  });
  return ids;
}

function readsStepsAsWhole(tree: FormulaNode): boolean {
  let mentioned = 0;
  walkFormula(tree, (node) => {
    if (node.kind === 'variable' && node.name === 'steps' && !node.own) mentioned++;
  });
  return mentioned > stepsIn(tree).length;
}

/** Whether something in the body may end the loop in another way. */
function canBeLeft(items: readonly FlowItem[]): boolean {
  return items.some(
    ({ verb, bodies, handlers }) =>
      ['fail', 'complete', 'rethrow'].includes(verb) || [...bodies, ...handlers].some((each) => canBeLeft(each.items)),
  );
}

function rangeOf({ node, formula }: Condition): Range {
  const tree = formula && treeOf(formula.text);
  return tree === undefined ? node.range : { start: node.offsetOf(tree.start), end: node.offsetOf(tree.end) };
}
