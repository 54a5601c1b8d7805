import { refuseDepth } from './formula-depth.js';
import { FormulaSyntaxError } from './formula-error.js';
import { type ParsedTree, parseTree } from './formula-parser.js';
import {
  type FormulaChild,
  type FormulaNode,
  type VariableNode,
  formulaChildren,
  walkFormula,
} from './formula-tree.js';
import { functionNames } from './functions.js';
import { tokensOf } from './lexer.js';
import { bodyOf, parseFormula } from './parse.js';
import type { Span } from './spans.js';
import { NotUnderstood } from './token-cursor.js';

/** What a formula says, without its being evaluated. Offsets are into the text as it was given. */
export type InspectedFormula = SoundFormula | BrokenFormula;

export interface SoundFormula {
  readonly ok: true;
  readonly tree: FormulaNode;
  /** Every node of the tree, each before what is inside it. */
  readonly nodes: readonly FormulaChild[];
  /** The variables and functions that it reads and does not define itself, in the order of the text. */
  readonly free: readonly FreeName[];
  /** Every `$steps.<id>`, in the order of the text. */
  readonly steps: readonly StepReference[];
}

export interface BrokenFormula {
  readonly ok: false;
  readonly error: FormulaSyntaxError;
}

export interface FreeName {
  readonly node: VariableNode;
  /** Whether it is what a call calls: `$name(…)`. */
  readonly called: boolean;
}

export interface StepReference extends Span {
  readonly id: string;
}

const cacheSize = 5000;
const cache = new Map<string, InspectedFormula>();

/** Reads a formula, with or without its `=`, once: what was read before is remembered. Never throws for a text. */
export function inspectFormula(text: string): InspectedFormula {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const inspected = inspect(text);
  // The one that came first goes first: a check reads the formulas of one file, then those of the next.
  if (cache.size >= cacheSize) cache.delete(cache.keys().next().value as string);
  cache.set(text, inspected);
  return inspected;
}

function inspect(text: string): InspectedFormula {
  let parsed: ParsedTree;
  try {
    parsed = parse(text);
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return { ok: false, error };
    throw error;
  }
  const { tree } = parsed;
  const free: FreeName[] = [];
  const steps: StepReference[] = [];
  resolve(tree, new Set(), false, { free, steps });
  steps.sort((a, b) => a.start - b.start);
  const nodes: FormulaChild[] = [];
  walkFormula(tree, (node, role) => nodes.push({ node, role }));
  return { ok: true, tree, nodes, free, steps };
}

/**
 * JSONata's own parser takes ten times as long, so it is asked only about what is out of the ordinary, and for what is
 * wrong with the rest. A property test holds the two parsers to the same language.
 */
function parse(text: string): ParsedTree {
  const { body, offset } = bodyOf(text);
  const tokens = tokensOf(body);
  refuseDepth(tokens, offset);
  let parsed: ParsedTree | undefined;
  try {
    parsed = parseTree(tokens, offset);
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
  }
  if (parsed?.isPlain === true && !body.includes('/*')) return parsed;
  parseFormula(text);
  if (parsed !== undefined) return parsed;
  const help = 'write it in a plainer way';
  throw new FormulaSyntaxError('the formula cannot be made out', offset, offset + body.length, help);
}

interface Found {
  readonly free: FreeName[];
  readonly steps: StepReference[];
}

/**
 * Finds out which variables are the formula's own: parameters of lambdas, what `:=` binds (seen in the rest of the
 * block, and in lambdas of the same statement, which may be recursive), and what `@` and `#` bind in a path.
 */
function resolve(node: FormulaNode, scope: Set<string>, called: boolean, found: Found): void {
  let inner = scope;
  switch (node.kind) {
    case 'variable':
      node.own = scope.has(node.name);
      if (!node.own) found.free.push({ node, called });
      return;
    case 'bind':
      scope.add(node.name);
      break;
    case 'block':
      inner = new Set(scope);
      break;
    case 'lambda':
      inner = new Set([...scope, ...node.parameters.map(({ name }) => name)]);
      break;
    case 'path': {
      inner = new Set(scope);
      for (const step of node.steps) {
        if (step.focus !== undefined) inner.add(step.focus);
        for (const stage of step.stages) if (stage.kind === 'index') inner.add(stage.name);
      }
      break;
    }
    default:
  }
  const callee = node.kind === 'call' || node.kind === 'partial' ? node.callee : undefined;
  for (const child of formulaChildren(node)) resolve(child.node, inner, child.node === callee, found);
  if ((node.kind === 'call' || node.kind === 'partial') && node.callee.kind === 'variable') {
    const { name, own } = node.callee;
    if (!own && functionNames.has(name)) node.function = name;
  }
  if (node.kind === 'path') {
    const [first, second] = node.steps;
    if (first.kind !== 'expression' || first.node.kind !== 'variable' || first.node.own) return;
    const isWhole = first.stages.length === 0 && first.focus === undefined;
    if (first.node.name === 'steps' && isWhole && second?.kind === 'name') {
      found.steps.push({ id: second.name, ...second.nameSpan });
    }
  }
}
