import { type FormulaNode, inspectFormula } from '../../expression/index.js';
import { type SyntaxNode, entryOf } from '../../syntax/index.js';
import type { FlowItem } from '../flow-model.js';
import { bare } from './formula-text.js';

/** Whether an item always comes to its end: a `set` of values that are there whatever happens, or a note. */
export function cannotFail(item: FlowItem): boolean {
  if (item.verb === 'pivot') return true;
  const value = item.verb === 'set' ? entryOf(item.node, 'set')?.value : undefined;
  return value !== undefined && isSafeValue(value);
}

function isSafeValue(node: SyntaxNode): boolean {
  if (node.kind === 'sequence') return node.items.every(isSafeValue);
  if (node.kind === 'mapping') return node.entries.every(({ value }) => isSafeValue(value));
  if (typeof node.value !== 'string' || !node.value.startsWith('=')) return true;
  const inspected = inspectFormula(node.value);
  return inspected.ok && isSafe(inspected.tree);
}

/** Fields of these may be read without a look: the first name after them is there. */
const settled: ReadonlySet<string> = new Set(['input', 'constants', 'run', 'workflow', 'error']);
const bound: ReadonlySet<string> = new Set(['iteration', 'index']);

function isSafe(node: FormulaNode): boolean {
  const inner = bare(node);
  switch (inner.kind) {
    case 'literal':
      return true;
    case 'variable':
      return !inner.own && (bound.has(inner.name) || settled.has(inner.name));
    case 'path': {
      const [first, second, third] = inner.steps;
      if (first.kind !== 'expression' || first.node.kind !== 'variable' || second?.kind !== 'name') return false;
      const isPlain = first.stages.length === 0 && second.stages.length === 0 && third === undefined;
      return isPlain && inner.group === undefined && settled.has(first.node.name) && !first.node.own;
    }
    case 'call':
      return inner.arguments.length === 0 && (inner.function === 'now' || inner.function === 'millis');
    default:
      return false;
  }
}
