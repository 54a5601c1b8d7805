import type { JsonObject, JsonValue } from '../../common/index.js';
import { type Report, inputSchemaOf } from '../../definition/index.js';
import type { HandlerCatalogue } from '../../handlers/index.js';
import type { SyntaxNode } from '../../syntax/index.js';
import type { Misread } from '../check-hyphens.js';
import type { FlowModel } from '../flow-model.js';
import { readFlow } from '../read-flow.js';
import { type StepNames, stepNamesOf } from '../step-names.js';
import { type WorkflowCatalogue, newestOf } from '../workflow-catalogue.js';
import { checkCalls } from './check-calls.js';
import { checkUses } from './check-uses.js';
import { FlowTypes } from './flow-types.js';
import { type Type, unknown } from './type.js';

export interface FlowToType {
  readonly root: SyntaxNode;
  readonly model: FlowModel;
  /** Absent if nothing is known of the input. */
  readonly inputSchema?: JsonObject | undefined;
  readonly steps: StepNames;
  readonly handlers?: HandlerCatalogue | undefined;
  readonly workflows?: WorkflowCatalogue | undefined;
  /** See `FlowSources`. */
  readonly misread?: Misread;
}

/**
 * What types say against a flow: fields that do not exist, operands, conditions, comparisons and arguments that cannot
 * be right. What cannot be known is never complained of.
 */
export function checkTypes(flow: FlowToType, report: Report): void {
  const { handlers, workflows } = flow;
  const types = typesOf(flow, new Set());
  checkUses(types, report);
  checkCalls(types, { handlers, workflows }, report);
}

/** `above`: the workflows whose output is being found out; one of them as a child again tells nothing. */
function typesOf(
  { root, model, inputSchema, steps, handlers, workflows, misread }: FlowToType,
  above: ReadonlySet<string>,
): FlowTypes {
  return new FlowTypes({
    root,
    model,
    inputSchema,
    steps,
    handlers,
    misread: new Set([...(misread?.keys() ?? [])].map(({ node }) => node)),
    childOutput: (name, revision) => childOutput(name, revision, { handlers, workflows }, above),
    help: (owner, _name, fields) => {
      if (owner === '$input' && fields.length === 0) return 'declare it in `input`';
      return owner === '$constants' && fields.length === 0 ? 'declare it in `constants`' : undefined;
    },
  });
}

/** What runs of a workflow give, of its newest revision. */
export function outputOf(name: string, known: Pick<FlowToType, 'handlers' | 'workflows'>): Type {
  return childOutput(name, undefined, known, new Set());
}

function childOutput(
  name: string,
  revision: number | undefined,
  { handlers, workflows }: Pick<FlowToType, 'handlers' | 'workflows'>,
  above: ReadonlySet<string>,
): Type {
  const child = newestOf(workflows, name, revision);
  if (child === undefined || above.has(name)) return unknown;
  const root = syntaxOf(child.document as unknown as JsonValue);
  const model = readFlow(root);
  const steps = stepNamesOf(model);
  const inputSchema = inputSchemaOf(child.document);
  return typesOf({ root, model, inputSchema, steps, handlers, workflows }, new Set([...above, name])).output();
}

/** A document as a tree that stands nowhere, for what reads trees. */
function syntaxOf(value: JsonValue): SyntaxNode {
  const range = { start: 0, end: 0 };
  const scalar = <V extends string | number | boolean | null>(of: V) =>
    ({ kind: 'scalar', value: of, range, style: 'plain', offsetOf: () => 0 }) as const;
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (Array.isArray(value)) return { kind: 'sequence', items: value.map(syntaxOf), range, flow: false };
  const entries = Object.entries(value).map(([key, inner]) => ({ key: scalar(key), value: syntaxOf(inner) }));
  return { kind: 'mapping', entries, range, flow: false };
}
