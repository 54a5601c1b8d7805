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

/** The ids with hyphens by which a formula means an item of the flow: subtracted as they stand, they mean none. */
export function hyphenatedIds(use: FormulaUse, model: FlowModel, names: StepNames): HyphenatedId[] {
  if (!use.text.includes('-')) return [];
  return stepReferences(use.text).flatMap(({ id: first, start, end }) => {
    const rest = /^(?:-[A-Za-z_]\w*)+/.exec(use.text.slice(end))?.[0];
    if (rest === undefined || use.text[end + rest.length] === '(') return [];
    const id = first + rest;
    const isMeant = names.items.has(plain(id)) || isWritten(id, model);
    return isMeant ? [{ id, start, end: end + rest.length }] : [];
  });
}

/** One diagnostic for each such id; none where the id itself is written with hyphens, which is told there. */
export function checkHyphens(model: FlowModel, names: StepNames, report: Report): void {
  for (const use of model.formulas) {
    for (const { id, start, end } of hyphenatedIds(use, model, names)) {
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

function isWritten(id: string, model: FlowModel): boolean {
  return [...model.ids, ...model.handlers].some(({ name }) => name === id);
}
