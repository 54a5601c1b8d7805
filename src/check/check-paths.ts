import { type JsonObject, isJsonObject } from '../common/index.js';
import { type Report, quoted } from '../definition/index.js';
import { inspectFormula, walkFormula } from '../expression/index.js';
import { nearest } from '../syntax/index.js';
import type { FlowModel, FormulaUse } from './flow-model.js';

/** Variables whose fields the language fixes. */
const fixedFields: Readonly<Record<string, readonly string[]>> = {
  run: ['id', 'key', 'startedAt', 'status'],
  workflow: ['name', 'revision', 'hash'],
  error: ['name', 'message', 'step', 'attempt', 'details'],
};

/**
 * Checks the first name after `$input`, `$constants`, `$run`, `$workflow` and `$error` where all names there are known.
 * Deeper paths, and those into outputs and payloads, are for the analysis of types.
 */
export function checkPaths(model: FlowModel, constants: readonly string[], input: JsonObject, report: Report): void {
  const fields = new Map(Object.entries(fixedFields));
  fields.set('constants', constants);
  const inputFields = closedFields(input);
  if (inputFields !== undefined) fields.set('input', inputFields);
  for (const use of model.formulas) for (const [name, known] of fields) checkVariable(use, name, known, report);
}

/** The fields of an object schema that allows no others; undefined if others may be there. */
function closedFields(schema: JsonObject): readonly string[] | undefined {
  const open = ['patternProperties', '$ref', '$dynamicRef'].some((keyword) => Object.hasOwn(schema, keyword));
  if (open || schema.additionalProperties !== false) return undefined;
  return isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
}

function checkVariable(use: FormulaUse, variable: string, fields: readonly string[], report: Report): void {
  if (!use.place.variables.has(variable) || !use.text.includes(`$${variable}`)) return;
  const inspected = inspectFormula(use.text);
  if (!inspected.ok) return;
  walkFormula(inspected.tree, (node) => {
    if (node.kind !== 'path') return;
    const [first, second] = node.steps;
    if (first.kind !== 'expression' || first.node.kind !== 'variable' || second?.kind !== 'name') return;
    if (first.node.own || first.node.name !== variable || first.stages.length > 0 || first.focus !== undefined) return;
    if (fields.includes(second.name)) return;
    const { start, end } = second.nameSpan;
    const range = { start: use.node.offsetOf(start), end: use.node.offsetOf(end) };
    const message = `\`$${variable}\` has no ${quoted(second.name)}`;
    report.error('RS4006', range, message, helpFor(variable, second.name, fields));
  });
}

function helpFor(variable: string, field: string, fields: readonly string[]): string {
  const guess = nearest(field, fields);
  if (guess !== undefined) return `did you mean \`$${variable}.${guess}\`?`;
  const declare = { input: 'declare it in `input`', constants: 'declare it in `constants`' }[variable];
  if (declare !== undefined && fields.length === 0) return declare;
  const known = fields
    .slice(0, 8)
    .map((each) => `\`${each}\``)
    .join(', ');
  return declare === undefined ? `it has ${known}` : `${declare}; there are ${known}`;
}
