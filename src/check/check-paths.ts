import { type JsonObject, isJsonObject } from '../common/index.js';
import { type Report, quoted } from '../definition/index.js';
import { analyseFormula } from '../expression/index.js';
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
  // The analysis knows which `$input` is the run's and which a parameter of that name: those it misses when it is not bound.
  const without = new Set([...use.place.variables].filter((each) => each !== variable));
  for (const problem of analyseFormula(use.text, without)) {
    if (problem.kind !== 'unknown-variable' || problem.name !== variable) continue;
    const found = /^\s*\.\s*(?:([A-Za-z_]\w*)(?!\w*\s*\()|`([^`]+)`)/.exec(use.text.slice(problem.end));
    const field = found?.[1] ?? found?.[2];
    if (found === null || field === undefined || fields.includes(field)) continue;
    const end = problem.end + found[0].length - (found[2] === undefined ? 0 : 1);
    const range = { start: use.node.offsetOf(end - field.length), end: use.node.offsetOf(end) };
    report.error('RS4006', range, `\`$${variable}\` has no ${quoted(field)}`, helpFor(variable, field, fields));
  }
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
