import { type JsonObject, isJsonObject } from '../common/index.js';
import { Report, type WorkflowDocument, inputSchemaOf } from '../definition/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import { type Diagnostic, type Source, type SyntaxNode, entryOf, toValue } from '../syntax/index.js';
import { checkFormulas } from './check-formulas.js';
import { checkHyphens, misreadFormulas } from './check-hyphens.js';
import { checkHandlers, checkIds, checkLoopNames, checkPolicies } from './check-names.js';
import { checkSteps } from './check-steps.js';
import { checkChildren } from './flow/check-children.js';
import { checkConditions } from './flow/check-conditions.js';
import { checkErrorNames } from './flow/check-error-names.js';
import { checkGates } from './flow/check-gates.js';
import { checkReach } from './flow/check-reach.js';
import { checkUnused } from './flow/check-unused.js';
import { courseOf } from './flow/course.js';
import { Sights } from './flow/sight.js';
import { readFlow } from './read-flow.js';
import { stepNamesOf } from './step-names.js';
import { checkTypes } from './types/check-types.js';
import type { WorkflowCatalogue } from './workflow-catalogue.js';

export interface WorkflowToCheck {
  readonly source: Source;
  readonly root: SyntaxNode;
  /** Absent if the shape has mistakes; what is known without it is checked nevertheless. */
  readonly document?: WorkflowDocument;
  /** Absent: nothing is said about handlers. */
  readonly handlers?: HandlerCatalogue;
  /** Absent: nothing is said about children. */
  readonly workflows?: WorkflowCatalogue;
  /** There may be workflows that are not among those: a child that is none of them is a warning. */
  readonly workflowsMayBeMissing?: boolean;
}

/**
 * What can be known of a flow before a run, beyond its shape: formulas (RS3…) and references (RS4…).
 * What the run may do (steps that may not have run, unreachable items) and types are checks of their own, to be called
 * here with the same model.
 */
export function checkWorkflow(toCheck: WorkflowToCheck): Diagnostic[] {
  const report = new Report();
  report.within(() => checkAll(toCheck, report));
  return report.inOrder();
}

function checkAll(toCheck: WorkflowToCheck, report: Report): void {
  const { source, root, document, handlers, workflows, workflowsMayBeMissing } = toCheck;
  const model = readFlow(root);
  const steps = stepNamesOf(model);
  const misread = misreadFormulas(model, steps);
  const constants = keysOf(root, 'constants');
  const inputSchema = inputSchemaIn(root, document);
  const input = inputSchema ?? {};
  const elements = model.loopNames.map(({ name }) => name);
  checkFormulas(model, { steps, input, constants, elements }, misread, report);
  checkHyphens(misread, model, steps, report);
  const course = courseOf(model);
  const sights = new Sights(course, constantsOf(root), steps.items);
  checkSteps({ model, names: steps, misread, course, sights, source, report });
  checkReach(root, model, course, source, report);
  checkConditions(model, steps, report);
  checkUnused(root, model, source, report);
  checkGates(model, course, sights, source, report);
  checkChildren({ root, model, document, workflows, workflowsMayBeMissing }, report);
  checkTypes({ root, inputSchema, model, steps, handlers, workflows, misread }, report);
  checkIds(model, source, report);
  checkPolicies(model, keysOf(root, 'retryPolicies'), report);
  checkLoopNames(model, report);
  if (handlers !== undefined) {
    checkHandlers(model, handlers, report);
    checkErrorNames(root, model, handlers, report);
  }
}

function keysOf(root: SyntaxNode, key: string): string[] {
  const value = entryOf(root, key)?.value;
  return value?.kind === 'mapping' ? value.entries.map((entry) => entry.key.value) : [];
}

function constantsOf(root: SyntaxNode): JsonObject {
  const constants = entryOf(root, 'constants')?.value;
  const value = constants?.kind === 'mapping' ? toValue(constants) : {};
  return isJsonObject(value) ? value : {};
}

/** Undefined where a file with mistakes does not tell it. Of a schema with mistakes what is sound in it is known. */
function inputSchemaIn(root: SyntaxNode, document: WorkflowDocument | undefined): JsonObject | undefined {
  if (document !== undefined) return inputSchemaOf(document);
  const [whole, listed] = ['inputSchema', 'input'].map((key) => {
    const node = entryOf(root, key)?.value;
    const value = node?.kind === 'mapping' ? toValue(node) : undefined;
    return isJsonObject(value) ? value : undefined;
  });
  if (whole !== undefined) return whole;
  // A field that is no schema: it may be that not fields were listed, but a schema as a whole was written.
  if (listed === undefined || !Object.values(listed).every((field) => isJsonObject(field))) return undefined;
  return inputSchemaOf({ workflow: '', steps: [], input: listed as Record<string, JsonObject> });
}
