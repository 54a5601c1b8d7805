import { type FormulaNode, inspectFormula } from '../../expression/index.js';

/** Longer formulas are not looked into: nobody writes them, and what follows from one takes time to find out. */
const longest = 5000;

/** What a formula says; undefined for a text that is none. */
export function treeOf(text: string): FormulaNode | undefined {
  const inspected = text.length > longest ? undefined : inspectFormula(text);
  return inspected?.ok === true ? inspected.tree : undefined;
}

/** The node without the brackets around it. */
export function bare(node: FormulaNode): FormulaNode {
  let inner = node;
  while (inner.kind === 'block') {
    const [only, second] = inner.expressions;
    if (only === undefined || second !== undefined) break;
    inner = only;
  }
  return inner;
}

const partsOfText = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|`[^`]*`|\s+/g;

/** What a part of a formula says, whatever its spaces: two parts of the same text give the same value. */
export function plainText(text: string, { start, end }: Pick<FormulaNode, 'start' | 'end'>): string {
  const part = text.slice(start, end);
  return part.replace(partsOfText, (found, offset: number) => {
    if (found.trim() !== '') return found;
    const isBetweenWords = /[\w$]/.test(part[offset - 1] ?? '') && /[\w$]/.test(part[offset + found.length] ?? '');
    return isBetweenWords ? ' ' : '';
  });
}

/** Functions whose value changes from one evaluation to the next. */
const fleeting: ReadonlySet<string> = new Set(['now', 'millis', 'random', 'shuffle']);

export function isFleeting(name: string): boolean {
  return fleeting.has(name);
}

/** The id that a path reads: `$steps.<id>`. */
export function stepReadBy(node: FormulaNode): string | undefined {
  if (node.kind !== 'path') return undefined;
  const [first, second] = node.steps;
  if (first.kind !== 'expression' || first.node.kind !== 'variable' || second?.kind !== 'name') return undefined;
  const { name, own } = first.node;
  return name === 'steps' && !own && first.stages.length === 0 && first.focus === undefined ? second.name : undefined;
}
