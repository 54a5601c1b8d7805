import { type JsonObject, isJsonObject } from '../common/index.js';
import { type Report, listed } from '../definition/index.js';
import { type FormulaProblem, analyseFormula, functionNames, otherVariables } from '../expression/index.js';
import { type DiagnosticCode, type Range, nearest } from '../syntax/index.js';
import type { Misread } from './check-hyphens.js';
import type { FlowModel, FormulaUse } from './flow-model.js';
import type { StepNames } from './step-names.js';

/** Where each variable that is not bound everywhere has a value. */
const boundIn: Readonly<Record<string, string>> = {
  item: 'inside a `forEach` (under another name where it has `as`)',
  index: 'inside a `forEach`',
  iteration: 'inside `doWhile` and `doUntil`, in their conditions, and in `remind`',
  signal: 'in the `filter` of a `waitFor`',
  result: 'in `compensate`',
  error: 'in `onError`, `retry.when`, `compensate`, `onFailure` and `finally`',
};

/** What the names in a formula may have been meant to be. */
export interface KnownNames {
  readonly steps: StepNames;
  /** Schema of the input. */
  readonly input: JsonObject;
  readonly constants: readonly string[];
  /** The names that the `as` of the file give to elements. */
  readonly elements: readonly string[];
}

const codes: Readonly<Record<FormulaProblem['kind'], DiagnosticCode>> = {
  syntax: 'RS3001',
  'unknown-variable': 'RS3002',
  'unknown-function': 'RS3003',
  'bare-name': 'RS3004',
  eval: 'RS3005',
  length: 'RS3006',
  'text-arithmetic': 'RS3007',
  index: 'RS3008',
  outputs: 'RS3009',
  'default-of-more': 'RS3019',
  'unused-default': 'RS3020',
  comparisons: 'RS3021',
  'text-variable': 'RS3022',
};

/** What may be meant. */
const suspicions: ReadonlySet<FormulaProblem['kind']> = new Set([
  'length',
  'outputs',
  'default-of-more',
  'text-variable',
]);

/** Checks each formula by itself: its syntax, and that its variables and functions exist where it stands. */
export function checkFormulas(model: FlowModel, known: KnownNames, misread: Misread, report: Report): void {
  const unreadable = model.ids.map(({ name }) => name).filter((name) => !/^[A-Za-z_]\w*$/.test(name));
  const declaresLength = JSON.stringify(known.input).includes('"length":');
  for (const use of model.formulas) {
    for (const problem of analyseFormula(use.text, use.place.variables)) {
      if (misread.get(use)?.some(({ start, end }) => start <= problem.start && problem.end <= end)) continue;
      // Which is told of the id: `$steps.take payment`.
      if (problem.kind === 'syntax' && unreadable.some((id) => use.text.includes(`$steps.${id}`))) continue;
      if (problem.kind === 'syntax' && use.node.cutOffBy !== undefined) {
        const help = 'quote the whole formula, or write it as a block after `>-`';
        report.error('RS1032', use.node.cutOffBy, 'to YAML this is a comment, and the formula ends before it', help);
        continue;
      }
      // A field that is declared is no slip.
      if (problem.kind === 'length' && declaresLength) continue;
      const range = rangeIn(use.node, problem);
      const say = suspicions.has(problem.kind) ? report.warning.bind(report) : report.error.bind(report);
      say(codes[problem.kind], range, problem.message, helpFor(problem, use, known));
    }
  }
}

/** What is wrong with a text that is empty is shown at its quotes. */
function rangeIn(node: FormulaUse['node'], problem: FormulaProblem): Range {
  const [start, end] = [node.offsetOf(problem.start), node.offsetOf(problem.end)];
  return start === end ? node.range : { start, end };
}

function helpFor(problem: FormulaProblem, use: FormulaUse, known: KnownNames): string {
  const { kind, name, help } = problem;
  if (name === undefined) return help;
  if (kind === 'unknown-variable') return meantVariable(name, use, known);
  if (kind === 'bare-name' && !use.place.variables.has(name)) {
    const [, item, list] = (use.use === 'list' && /^=?\s*(\S+)\s+in\s+(.+)$/s.exec(use.text)) || [];
    if (list !== undefined && item === name)
      return `write \`forEach: =${list}\`, and \`as: ${name}\` on a line of its own`;
    const owner = ownerOf(name, known);
    return owner === undefined ? help : `did you mean \`${owner}\`?`;
  }
  return help;
}

function meantVariable(name: string, use: FormulaUse, known: KnownNames): string {
  const owner = ownerOf(name, known);
  if (owner !== undefined) return `did you mean \`${owner}\`?`;
  const other = otherVariables.get(name);
  if (other !== undefined && use.place.variables.has(other)) return `did you mean \`$${other}\`?`;
  if (['env', 'secrets', 'secret', 'environment'].includes(name)) {
    return 'formulas cannot read the environment: pass the value as input; a secret is `{ $secret: NAME }` in `with`';
  }
  const elsewhere = known.elements.includes(name)
    ? 'inside its `forEach`'
    : Object.hasOwn(boundIn, name)
      ? boundIn[name]
      : undefined;
  if (elsewhere !== undefined) return `\`$${name}\` has a value only ${elsewhere}`;
  const variables = [...use.place.variables.keys()];
  const guess = nearest(name, variables) ?? nearest(name, functionNames);
  return guess === undefined
    ? `here there are ${listed(
        variables.map((each) => `$${each}`),
        'and',
      )}`
    : `did you mean \`$${guess}\`?`;
}

/** The path under which a name that lacks its variable would be found. */
function ownerOf(name: string, known: KnownNames): string | undefined {
  const fields = known.input.properties;
  if (isJsonObject(fields) && Object.hasOwn(fields, name)) return `$input.${name}`;
  if (known.steps.items.has(name)) return `$steps.${name}`;
  return known.constants.includes(name) ? `$constants.${name}` : undefined;
}
