import type { JsonValue } from '../common/index.js';

import { compileFormula } from './compile.js';
import { evaluate, whenThere } from './evaluate.js';
import type { Bindings, Formula, Surroundings } from './formula.js';
import { FormulaError } from './formula-error.js';

/** A value whose strings may be formulas: that of `with`, `set`, `output` and the like. */
export type Template = TemplateNode & {
  /** Every formula in it, in the order of the text. */
  readonly formulas: readonly { path: string; formula: Formula }[];
};

type TemplateNode =
  | { kind: 'literal'; value: JsonValue }
  | { kind: 'formula'; formula: Formula; path: string }
  | { kind: 'list'; items: readonly TemplateNode[] }
  | { kind: 'object'; entries: readonly (readonly [string, TemplateNode])[] };

/**
 * Compiles a value: strings that begin with `=` are formulas, at any depth; keys never are, and what
 * holds no formula is a literal. Throws `FormulaSyntaxError`.
 */
export function compileTemplate(value: JsonValue): Template {
  const formulas: { path: string; formula: Formula }[] = [];
  const node = compileNode(value, '', formulas);
  return { ...node, formulas };
}

function compileNode(value: JsonValue, path: string, formulas: { path: string; formula: Formula }[]): TemplateNode {
  const before = formulas.length;
  let node: TemplateNode = { kind: 'literal', value };
  if (typeof value === 'string' && value.startsWith('=')) {
    const formula = compileFormula(value);
    formulas.push({ path, formula });
    node = { kind: 'formula', formula, path };
  } else if (Array.isArray(value)) {
    node = { kind: 'list', items: value.map((item, index) => compileNode(item, `${path}[${index}]`, formulas)) };
  } else if (typeof value === 'object' && value !== null) {
    const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
    node = {
      kind: 'object',
      entries: Object.entries(value).map(
        ([key, content]) => [key, compileNode(content, inside(key), formulas)] as const,
      ),
    };
  }
  return formulas.length === before ? { kind: 'literal', value } : node;
}

/**
 * The value of a template, sharing nothing with what the formulas read. At once where all its formulas are
 * plain paths. A formula without a value is a `FormulaError` that names its place (`path`).
 */
export function evaluateTemplate(
  template: Template,
  bindings: Bindings,
  surroundings: Surroundings,
): JsonValue | Promise<JsonValue> {
  return evaluateNode(template, bindings, surroundings);
}

function evaluateNode(
  node: TemplateNode,
  bindings: Bindings,
  surroundings: Surroundings,
): JsonValue | Promise<JsonValue> {
  switch (node.kind) {
    case 'literal':
      return typeof node.value === 'object' ? structuredClone(node.value) : node.value;
    case 'formula':
      return evaluateFormula(node, bindings, surroundings);
    case 'list':
      return inOrder(node.items, bindings, surroundings);
    case 'object':
      return whenThere(
        inOrder(
          node.entries.map(([, content]) => content),
          bindings,
          surroundings,
        ),
        (values) => Object.fromEntries(node.entries.map(([key], index) => [key, values[index] as JsonValue])),
      );
  }
}

/** One after the other, as written: `$random()` must draw the same numbers every time. */
function inOrder(
  nodes: readonly TemplateNode[],
  bindings: Bindings,
  surroundings: Surroundings,
): JsonValue[] | Promise<JsonValue[]> {
  const values: JsonValue[] = [];
  for (const [index, node] of nodes.entries()) {
    const value = evaluateNode(node, bindings, surroundings);
    if (value instanceof Promise) return restInOrder(values, value, nodes.slice(index + 1), bindings, surroundings);
    values.push(value);
  }
  return values;
}

async function restInOrder(
  values: JsonValue[],
  pending: Promise<JsonValue>,
  rest: readonly TemplateNode[],
  bindings: Bindings,
  surroundings: Surroundings,
): Promise<JsonValue[]> {
  values.push(await pending);
  for (const node of rest) values.push(await evaluateNode(node, bindings, surroundings));
  return values;
}

function evaluateFormula(
  { formula, path }: { formula: Formula; path: string },
  bindings: Bindings,
  surroundings: Surroundings,
): JsonValue | Promise<JsonValue> {
  const rethrow = (error: unknown): never => {
    throw error instanceof FormulaError && path !== '' ? error.at(path) : error;
  };
  const present = (value: JsonValue | undefined): JsonValue => {
    if (value !== undefined) return value;
    throw new FormulaError({
      formula: formula.text,
      reason: 'absent',
      detail: `the value is absent; ${absenceHelp(formula.text)}`,
      path: path === '' ? undefined : path,
    });
  };
  try {
    const value = evaluate(formula, bindings, surroundings);
    return value instanceof Promise ? value.catch(rethrow).then(present) : present(value);
  } catch (error) {
    return rethrow(error);
  }
}

/** A filter by a condition at the end of a formula: nothing may match, or one value, which is then no list. */
const filterAtEnd = /\[[^[\]]*[=<>][^[\]]*\]$/;

function absenceHelp(text: string): string {
  const shown = text.length > 60 ? '…' : text;
  if (!filterAtEnd.test(text)) return `to allow that, write \`${shown} ?? null\``;
  return `for a list, even of none or one, write \`[${shown}]\`; for null, \`${shown} ?? null\``;
}
