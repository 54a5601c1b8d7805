import type { Report } from '../definition/index.js';
import { stepReferences } from '../expression/index.js';
import type { FlowModel, FormulaUse } from './flow-model.js';
import type { StepNames } from './step-names.js';

/** `take-payment` in `$steps.take-payment`, which formulas read as a subtraction; offsets into the formula. */
export interface HyphenatedId {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** The formulas with such ids. Whatever else they seem to say is not what they mean. */
export type Misread = ReadonlyMap<FormulaUse, readonly HyphenatedId[]>;

/** Finds the ids with hyphens by which formulas mean an item of the flow: subtracted as they stand, they mean none. */
export function misreadFormulas(model: FlowModel, names: StepNames): Misread {
  const misread = new Map<FormulaUse, readonly HyphenatedId[]>();
  for (const use of model.formulas) {
    if (!use.text.includes('-')) continue;
    const ids = hyphenatedIds(use, model, names);
    if (ids.length > 0) misread.set(use, ids);
  }
  return misread;
}

function hyphenatedIds({ text }: FormulaUse, model: FlowModel, names: StepNames): HyphenatedId[] {
  return stepReferences(text).flatMap(({ id: first, start, end }) => {
    const rest = /^(?:-[A-Za-z_]\w*)+/.exec(text.slice(end))?.[0];
    if (rest === undefined || text[end + rest.length] === '(') return [];
    const id = first + rest;
    const isMeant = names.items.has(plain(id)) || isWritten(id, model);
    return isMeant ? [{ id, start, end: end + rest.length }] : [];
  });
}

/** One diagnostic for each such id; none where the id itself is written with hyphens, which is told there. */
export function checkHyphens(misread: Misread, model: FlowModel, names: StepNames, report: Report): void {
  for (const [use, ids] of misread) {
    for (const { id, start, end } of ids) {
      if (model.ids.some(({ name }) => name === id)) continue;
      const range = { start: use.node.offsetOf(start), end: use.node.offsetOf(end) };
      const help = names.items.has(plain(id))
        ? `did you mean \`$steps.${plain(id)}\`?`
        : `give the step an \`id\`, such as \`${plain(id)}\`, and read that`;
      report.error('RS4001', range, `\`$steps.${id}\` is a subtraction, not the output of a step`, help);
    }
  }
}

function plain(id: string): string {
  return id.replaceAll('-', '_');
}

function isWritten(id: string, { ids, calls }: FlowModel): boolean {
  return ids.some(({ name }) => name === id) || calls.some(({ kind, name }) => kind === 'handler' && name.value === id);
}
