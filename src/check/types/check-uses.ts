import type { Report } from '../../definition/index.js';
import { type FormulaNode, formulaChildren, inspectFormula } from '../../expression/index.js';
import type { FormulaUse } from '../flow-model.js';
import type { FlowTypes, TypedFormula } from './flow-types.js';
import { guardsOf } from './guards.js';
import type { Inference } from './infer.js';
import {
  type Type,
  booleanType,
  describeType,
  isNever,
  listOf,
  mayBe,
  numberType,
  present,
  stringType,
  union,
  anything,
} from './type.js';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** ISO 8601 with an offset, as `until` takes it. */
const pointInTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

/** What the types of formulas say about the fields they stand in, and about their parts. */
export function checkUses(flow: FlowTypes, report: Report): void {
  const guarded = existsAnywhere(flow);
  for (const use of flow.model.formulas) {
    const typed = flow.formula(use.node, use.place.variables);
    const inspected = inspectFormula(use.text);
    if (typed === undefined || !inspected.ok) continue;
    const { inference } = typed;
    // A mistake inside is the reason for whatever is wrong with the whole.
    if (!inference.isFlawed) checkField(use, inspected.tree, typed);
    warnOfOptional(use, inspected.tree, inference, guarded);
    for (const { code, severity, start, end, message, help } of inference.problems) {
      const range = { start: use.node.offsetOf(start), end: use.node.offsetOf(end) };
      if (severity === 'error') report.error(code, range, message, help);
      else report.warning(code, range, message, help);
    }
  }
}

function checkField(use: FormulaUse, tree: FormulaNode, { type, inference }: TypedFormula): void {
  if (isNever(present(type))) return;
  const whole = inference.textOf(tree);
  switch (use.use) {
    case 'condition':
    case 'filter':
      if (mayBe(type, booleanType)) return;
      inference.report(
        'RS3010',
        'error',
        tree,
        `a condition must be true or false, but \`${whole}\` is ${describeType(type)}`,
        conditionHelp(whole, type),
      );
      return;
    case 'list': {
      const facts = inference.paths.get(tree);
      const isPlain = tree.kind === 'variable' || (facts?.isPlain === true && !facts.crossesList);
      if (!isPlain || mayBe(type, listOf(anything))) return;
      const message = `\`forEach\` needs a list, but \`${whole}\` is ${describeType(type)}`;
      inference.report('RS3016', 'error', tree, message, `to treat one value as a list of one, write \`[${whole}]\``);
      return;
    }
    case 'time': {
      if (mayBe(type, union(numberType, stringType)) && !isNoTime(type)) return;
      const message = `\`until\` must be a point in time, but \`${whole}\` is ${isNoTime(type) ? 'another text' : describeType(type)}`;
      const help = 'write an ISO timestamp with offset ("2030-01-31T09:00:00Z") or milliseconds since 1970';
      inference.report('RS3017', 'error', tree, message, help);
      return;
    }
    case 'value':
      warnOfCollapse(tree, inference);
  }
}

function isNoTime(type: Type): boolean {
  const { string } = type;
  if (string === undefined || string === 'any' || mayBe(type, numberType)) return false;
  return ![...string].some((text) => pointInTime.test(text));
}

function conditionHelp(text: string, type: Type): string {
  if (type.list !== undefined) return `ask for its length, as in \`$count(${text}) > 0\``;
  if (type.string !== undefined) return `compare it, as in \`${text} = "…"\``;
  if (type.number !== undefined) return `compare it, as in \`${text} > 0\``;
  return type.map === undefined ? 'write a comparison' : `ask for one of its fields, as in \`${text}.… = true\``;
}

/** A path through a list whose one match is no list: in a value field the next step would get one or the other. */
function warnOfCollapse(node: FormulaNode, inference: Inference): void {
  if (node.kind === 'object') {
    for (const { value } of node.pairs) warnOfCollapse(value, inference);
    return;
  }
  if (node.kind === 'conditional') {
    for (const each of [node.then, node.otherwise]) if (each !== undefined) warnOfCollapse(each, inference);
    return;
  }
  const facts = inference.paths.get(node);
  if (node.kind !== 'path' || facts === undefined || !facts.mayCollapse) return;
  const whole = inference.textOf(node);
  const message = `\`${whole}\` is a list of several values, but with one match it is that value alone`;
  inference.report('RS3018', 'warning', node, message, `\`[${whole}]\` always gives a list`);
}

/** Fields of the input that need not be there, where a value must be. */
function warnOfOptional(use: FormulaUse, tree: FormulaNode, inference: Inference, guarded: ReadonlySet<string>): void {
  const needed = use.use === 'list' ? inference.needed : [...inference.needed, tree];
  if (!needed.some((node) => lastParts(node).some((part) => inference.paths.get(part)?.optional !== undefined))) return;
  const known = new Set([...guarded, ...existsIn(tree), ...guardsOf(use.place).flatMap(mentionsOf)]);
  const said = new Set<string>();
  for (const node of needed.flatMap(lastParts)) {
    const found = inference.paths.get(node)?.optional;
    if (found === undefined || inference.problems.some((each) => contains(each, found.step))) continue;
    const key = found.path.join('\n');
    if (said.has(key) || [...known].some((each) => `${each}\n`.startsWith(`${key}\n`))) continue;
    said.add(key);
    const path = `$input.${found.path.join('.')}`;
    const message = `\`${path}\` is optional, and this fails where it is missing`;
    const help = `give a default, as in \`${path} ?? null\`, or ask \`$exists(${path})\` first`;
    inference.report('RS4032', 'warning', found.step, message, help);
  }
}

function contains(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The parts that the value of a node can be. */
function lastParts(node: FormulaNode): FormulaNode[] {
  switch (node.kind) {
    case 'conditional':
      return [...lastParts(node.then), ...(node.otherwise ? lastParts(node.otherwise) : [])];
    case 'default':
      return lastParts(node.right);
    case 'block': {
      const last = node.expressions.at(-1);
      return last === undefined ? [] : lastParts(last);
    }
    default:
      return [node];
  }
}

/** Paths into the input that some condition of the flow asks `$exists` of, wherever it stands: it may end the run. */
function existsAnywhere(flow: FlowTypes): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { use, text } of flow.model.formulas) {
    if ((use !== 'condition' && use !== 'filter') || !text.includes('$exists')) continue;
    const inspected = inspectFormula(text);
    if (inspected.ok) for (const key of existsIn(inspected.tree)) found.add(key);
  }
  return found;
}

function existsIn(tree: FormulaNode): string[] {
  if (tree.kind === 'call' && tree.function === 'exists') return tree.arguments.flatMap(inputPathsIn);
  return formulaChildren(tree).flatMap(({ node }) => existsIn(node));
}

function mentionsOf(text: string): string[] {
  const inspected = inspectFormula(text);
  return inspected.ok ? inputPathsIn(inspected.tree) : [];
}

/** The paths into the input that are read anywhere in a formula, their names joined. */
function inputPathsIn(node: FormulaNode): string[] {
  const inside = formulaChildren(node).flatMap((child) => inputPathsIn(child.node));
  if (node.kind !== 'path') return inside;
  const [first, ...rest] = node.steps;
  if (first.kind !== 'expression' || first.node.kind !== 'variable' || first.node.name !== 'input') return inside;
  const names: string[] = [];
  for (const step of rest) {
    if (step.kind !== 'name') break;
    names.push(step.name);
  }
  return [names.join('\n'), ...inside];
}
