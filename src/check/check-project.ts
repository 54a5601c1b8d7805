import { type ReadWorkflow, type WorkflowDocument, readWorkflow, sealDefinition } from '../definition/index.js';
import { type Diagnostic, type Findings, type Source, isText } from '../syntax/index.js';
import { entryOf } from '../syntax/index.js';
import { type CheckOptions, type CheckedDocument, checkRead } from './check-source.js';
import type { CataloguedWorkflow, WorkflowCatalogue } from './workflow-catalogue.js';

/** A flow that was read, but not yet checked. */
export interface ReadFlow {
  readonly source: Source;
  readonly read: ReadWorkflow;
}

export const readFlowFile = (source: Source): ReadFlow => ({ source, read: readWorkflow(source) });

/** The workflows of flows; of one with mistakes in its shape no more is known than that it is there. */
export function catalogueOf(flows: readonly ReadFlow[]): WorkflowCatalogue {
  const catalogue = new Map<string, CataloguedWorkflow[]>();
  for (const { read } of flows) {
    const identity = identityOf(read);
    if (identity === undefined) continue;
    const { name, revision } = identity;
    const known = catalogue.get(name) ?? [];
    const document = read.document ?? takesAndGivesAnything(name, revision);
    if (!known.some((other) => other.revision === revision)) known.push({ name, revision, document });
    catalogue.set(name, known);
  }
  return catalogue;
}

/** So that who starts it is not told of its mistakes as well. */
function takesAndGivesAnything(workflow: string, revision: number): WorkflowDocument {
  return { workflow, revision, inputSchema: {}, steps: [], output: '=$input' };
}

/** Checks flows that belong together: each by itself, and that no two are the same revision of one workflow. */
export function checkFlows(flows: readonly ReadFlow[], options: CheckOptions): Findings[] {
  const taken = new Map<string, CheckedFlow>();
  return flows.map((flow) => {
    const { source, read } = flow;
    const checked = checkRead(source, read, options);
    const clash = clashOf({ ...flow, ...checked }, taken);
    const diagnostics = clash === undefined ? checked.diagnostics : inOrder([...checked.diagnostics, clash]);
    return { source, diagnostics };
  });
}

type CheckedFlow = ReadFlow & CheckedDocument;

function clashOf(flow: CheckedFlow, taken: Map<string, CheckedFlow>): Diagnostic | undefined {
  const identity = identityOf(flow.read);
  if (identity === undefined) return undefined;
  const { name, revision, node } = identity;
  const key = `${name}@${revision}`;
  const other = taken.get(key);
  if (other === undefined) taken.set(key, flow);
  // The same file given twice, or a copy, is no clash.
  if (other === undefined || contentOf(other) === contentOf(flow)) return undefined;
  return {
    code: 'RS4050',
    severity: 'error',
    message: `revision ${revision} of \`${name}\` is also in ${placeOf(other)}, with other content`,
    range: node.range,
    help: 'give the newer one a higher `revision`, or one of them another name',
  };
}

function contentOf({ source, document }: CheckedFlow): string {
  return document === undefined ? source.text : sealDefinition(document).hash;
}

/** As far as it can be made out, whatever else is wrong with the flow. */
function identityOf({ root }: ReadWorkflow) {
  const node = entryOf(root, 'workflow')?.value;
  if (!isText(node)) return undefined;
  const revision = entryOf(root, 'revision')?.value;
  const number = revision === undefined ? 1 : revision.kind === 'scalar' ? revision.value : undefined;
  return typeof number === 'number' ? { name: node.value, revision: number, node } : undefined;
}

function placeOf({ source, read }: ReadFlow): string {
  const node = entryOf(read.root, 'workflow')?.value;
  return node === undefined ? source.name : `${source.name}:${source.position(node.range.start).line}`;
}

function inOrder(diagnostics: Diagnostic[]): Diagnostic[] {
  return diagnostics.sort((a, b) => a.range.start - b.range.start || a.range.end - b.range.end);
}
