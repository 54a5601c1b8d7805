import { type ReadWorkflow, handlersOf, readWorkflow, sealDefinition, walkItems } from '../definition/index.js';
import type { WorkflowDocument } from '../definition/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import { type Diagnostic, type Findings, type Range, type Source, byPlace, entryOf, isText } from '../syntax/index.js';
import { checkRead, readSafely } from './check-source.js';
import type { CataloguedWorkflow } from './workflow-catalogue.js';

export interface ProjectToCheck {
  readonly flows: readonly Source[];
  /** Flows that these may start, which are not checked themselves. */
  readonly others: readonly Source[];
  /** Absent: nothing is said about handlers. */
  readonly handlers?: HandlerCatalogue;
  /** There may be workflows that are in none of the files. */
  readonly workflowsMayBeMissing: boolean;
}

/** What is known of a flow once it was read. Its tree is not kept: a project may have thousands. */
export interface KnownFlow {
  readonly source: Source;
  /** As far as it can be made out, whatever else is wrong with the flow. */
  readonly identity?: FlowIdentity;
  readonly isReadable: boolean;
  /** The names of the handlers that it calls; absent if its shape has mistakes. */
  readonly handlers?: readonly string[];
}

interface FlowIdentity {
  readonly name: string;
  readonly revision: number;
  /** Of the name. */
  readonly range: Range;
}

export interface CheckedProject {
  /** Of each flow that was to be checked, in order. */
  readonly findings: Findings[];
  /** Those flows and the others. */
  readonly known: readonly KnownFlow[];
}

/**
 * Whether a flow has a `subWorkflow`, as far as its text shows. A backslash may spell the word in another way, and a
 * misspelt one is checked as the one that was meant.
 */
export function mayStartChildren({ text }: Source): boolean {
  return /subWorkflow|\\|(?:^|[\s{,])["']?(?:s\w{0,5}w\w{0,9}|sub\w*|\w*child\w*|(?:call|run)workflow)["']?[ \t]*:/im.test(
    text,
  );
}

/**
 * Checks flows that belong together: each by itself and with the workflows that it starts, and that no two are the
 * same revision of one workflow. A flow that starts none is checked as soon as it is read.
 */
export function checkProject({ flows, others, handlers, workflowsMayBeMissing }: ProjectToCheck): CheckedProject {
  const hasParents = flows.some(mayStartChildren);
  const known: KnownFlow[] = [];
  const catalogue = new Map<string, CataloguedWorkflow[]>();
  const parents: { source: Source; read: ReadWorkflow }[] = [];
  const checked = new Map<Source, CheckedFlow>();
  const check = (source: Source, read: ReadWorkflow, isMissing: boolean): void => {
    const options = { workflows: catalogue, workflowsMayBeMissing: isMissing, ...(handlers && { handlers }) };
    const { document, diagnostics } = checkRead(source, read, options);
    checked.set(source, { diagnostics, isValid: document !== undefined });
  };
  const learn = (source: Source): ReadWorkflow => {
    const read = readSafely(source);
    const flow = knownFlow(source, read);
    known.push(flow);
    if (hasParents && flow.identity !== undefined) addTo(catalogue, flow.identity, read.document);
    return read;
  };
  for (const source of flows) {
    const read = learn(source);
    if (mayStartChildren(source)) parents.push({ source, read });
    else check(source, read, false);
  }
  for (const source of others) learn(source);
  // Nobody knows which workflow a file is that cannot be read.
  const isMissing = workflowsMayBeMissing || known.some(({ isReadable }) => !isReadable);
  for (const { source, read } of parents) check(source, read, isMissing);
  return { findings: withClashes(known.slice(0, flows.length), checked), known };
}

interface CheckedFlow {
  readonly diagnostics: Diagnostic[];
  readonly isValid: boolean;
}

function knownFlow(source: Source, { root, document }: ReadWorkflow): KnownFlow {
  const identity = root && identityOf(root);
  return {
    source,
    ...(identity !== undefined && { identity }),
    isReadable: root !== undefined,
    ...(document !== undefined && { handlers: handlersIn(document) }),
  };
}

function identityOf(root: NonNullable<ReadWorkflow['root']>): FlowIdentity | undefined {
  const node = entryOf(root, 'workflow')?.value;
  if (!isText(node)) return undefined;
  const revision = entryOf(root, 'revision')?.value;
  const number = revision === undefined ? 1 : revision.kind === 'scalar' ? revision.value : undefined;
  return typeof number === 'number' ? { name: node.value, revision: number, range: node.range } : undefined;
}

function handlersIn(document: WorkflowDocument): string[] {
  const called = new Set<string>();
  walkItems(document, ({ item }) => {
    for (const handler of handlersOf(item)) called.add(handler);
  });
  return [...called];
}

/** Of one with mistakes in its shape no more is known than that it is there. */
function addTo(
  catalogue: Map<string, CataloguedWorkflow[]>,
  { name, revision }: FlowIdentity,
  document: WorkflowDocument = takesAndGivesAnything(name, revision),
): void {
  const known = catalogue.get(name) ?? [];
  if (!known.some((other) => other.revision === revision)) known.push({ name, revision, document });
  catalogue.set(name, known);
}

/** So that who starts it is not told of its mistakes as well. */
function takesAndGivesAnything(workflow: string, revision: number): WorkflowDocument {
  return { workflow, revision, inputSchema: {}, steps: [], output: '=$input' };
}

/** What was found in each flow, and whether an earlier one is the same revision of the same workflow. */
function withClashes(flows: readonly KnownFlow[], checked: ReadonlyMap<Source, CheckedFlow>): Findings[] {
  const taken = new Map<string, KnownFlow>();
  return flows.map((flow) => {
    const { source, identity } = flow;
    const diagnostics = checked.get(source)?.diagnostics ?? [];
    if (identity === undefined) return { source, diagnostics };
    const key = `${identity.name}@${identity.revision}`;
    const other = taken.get(key);
    if (other === undefined) taken.set(key, flow);
    if (other === undefined || isCopy(flow, other, checked)) return { source, diagnostics };
    return { source, diagnostics: [...diagnostics, clash(identity, other)].sort(byPlace) };
  });
}

/** The same file given twice, or a copy, is no clash. */
function isCopy(flow: KnownFlow, other: KnownFlow, checked: ReadonlyMap<Source, CheckedFlow>): boolean {
  if (flow.source.text === other.source.text) return true;
  const [hash, otherHash] = [flow, other].map(({ source }) => {
    const document = checked.get(source)?.isValid === true ? readWorkflow(source).document : undefined;
    return document && sealDefinition(document).hash;
  });
  return hash !== undefined && hash === otherHash;
}

function clash({ name, revision, range }: FlowIdentity, { source, identity }: KnownFlow): Diagnostic {
  const place = identity === undefined ? source.name : `${source.name}:${source.position(identity.range.start).line}`;
  return {
    code: 'RS4050',
    severity: 'error',
    message: `revision ${revision} of \`${name}\` is also in ${place}, with other content`,
    range,
    help: 'give the newer one a higher `revision`, or one of them another name',
  };
}
