import type { Diagnostic } from './diagnostic.js';
import type { Mask } from './formula-slips.js';
import type { Range } from './source.js';
import type { SyntaxNode } from './tree.js';

/**
 * A document in which something is refused, as it was probably meant: keys that stand twice are joined, merged maps are
 * filled in, formulas that YAML cuts up are whole. Good for telling its other mistakes, not for running it.
 */
export interface RoughDocument {
  readonly root: SyntaxNode;
  /** Whether a diagnostic about the tree only repeats what was said of the text. */
  readonly isEcho: (diagnostic: Diagnostic) => boolean;
}

/** Undefined where too little is known of what was meant. */
export function roughDocument(
  root: SyntaxNode,
  errors: readonly Diagnostic[],
  masks: readonly Mask[],
  text: string,
): RoughDocument | undefined {
  if (errors.some(({ code }) => leavesNoTree.has(code))) return undefined;
  const said = errors.map(({ range }) => range);
  // What a tag makes of the value behind it only the other tool knows.
  const tagged = masks
    .filter(({ as }) => as === 'blank')
    .map(({ range }) => ({ ...range, end: lineEnd(text, range.end) }));
  const words = masks.filter(({ as }) => as === 'word').map(({ range }) => range);
  const isWhole = errors.every(({ code }) => leavesWhole.has(code));
  const isEcho = ({ code, severity, range }: Diagnostic): boolean => {
    // What the flow as a whole seems to lack or to do without may be in what was refused.
    if (severity === 'warning' && !isWhole) return true;
    if ([...said, ...tagged].some((other) => overlap(range, other))) return true;
    const isOfFormula = /^RS[34]/.test(code) && code !== 'RS3001';
    return !isOfFormula && words.some((other) => overlap(range, other));
  };
  return { root, isEcho };
}

/** A second document, and what is too large: what the file as a whole says is not known. */
const leavesNoTree: ReadonlySet<string> = new Set(['RS1002', 'RS1003', 'RS1004', 'RS1005', 'RS1016']);

/** What is read as it was meant, nothing left out. */
const leavesWhole: ReadonlySet<string> = new Set(['RS1007', 'RS1018', 'RS1019']);

function overlap(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end;
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}
