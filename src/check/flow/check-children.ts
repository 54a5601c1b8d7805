import { type Report, type WorkflowDocument, quoted } from '../../definition/index.js';
import { type Range, type ScalarNode, type SyntaxNode, entryOf, isText, nearest, nodeAt } from '../../syntax/index.js';
import type { FlowModel } from '../flow-model.js';
import type { CataloguedWorkflow, WorkflowCatalogue } from '../workflow-catalogue.js';
import { type CertainChild, certainChildrenOf } from './certain-children.js';

export interface ChildrenToCheck {
  readonly root: SyntaxNode;
  readonly model: FlowModel;
  /** Absent if the shape has mistakes. */
  readonly document?: WorkflowDocument | undefined;
  /** Absent: nothing is known but the workflow itself. */
  readonly workflows?: WorkflowCatalogue | undefined;
  /** Whether there may be workflows that the catalogue lacks. */
  readonly workflowsMayBeMissing?: boolean | undefined;
}

/** The workflows that are started as children: that they exist, and that this does not go on for ever. */
export function checkChildren(check: ChildrenToCheck, report: Report): void {
  if (check.workflows !== undefined) checkNames(check, check.workflows, report);
  const startsSome = check.model.items.some(({ verb }) => verb === 'subWorkflow');
  if (startsSome && check.document !== undefined) checkCycles(check, check.document, report);
}

function checkNames(
  { root, model, workflowsMayBeMissing }: ChildrenToCheck,
  all: WorkflowCatalogue,
  report: Report,
): void {
  const say = workflowsMayBeMissing === true ? report.warning.bind(report) : report.error.bind(report);
  const own = scalarOf(root, 'workflow');
  const ownRevision = scalarOf(root, 'revision') ?? 1;
  for (const { verb, node } of model.items) {
    const child = verb === 'subWorkflow' ? entryOf(node, 'subWorkflow')?.value : undefined;
    if (!isText(child) || !/^[A-Za-z][\w.-]*$/.test(child.value)) continue;
    const name = child.value;
    const revisions = new Set((all.get(name) ?? []).map(({ revision }) => revision));
    if (name === own && typeof ownRevision === 'number') revisions.add(ownRevision);
    if (revisions.size === 0) {
      const guess = nearest(name, [...all.keys(), ...(typeof own === 'string' ? [own] : [])]);
      const help =
        guess === undefined
          ? 'children are looked for beside the flow and among the definitions'
          : `did you mean \`${guess}\`?`;
      say('RS4022', rangeOf(child), `there is no workflow ${quoted(name)}`, help);
      continue;
    }
    const pinned = entryOf(node, 'revision')?.value;
    if (pinned?.kind !== 'scalar' || typeof pinned.value !== 'number' || !Number.isInteger(pinned.value)) continue;
    if (pinned.value < 1 || revisions.has(pinned.value)) continue;
    const known = [...revisions].sort((a, b) => a - b).join(', ');
    const help = `there ${revisions.size === 1 ? 'is revision' : 'are revisions'} ${known}; without \`revision\` the newest is started`;
    say('RS4023', pinned.range, `${quoted(name)} has no revision ${pinned.value}`, help);
  }
}

/** Of the text itself where it is a block under its key. */
function rangeOf(node: ScalarNode): Range {
  if (typeof node.value !== 'string' || (node.style !== 'literal' && node.style !== 'folded')) return node.range;
  return { start: node.offsetOf(0), end: node.offsetOf(node.value.trimEnd().length) };
}

function scalarOf(root: SyntaxNode, key: string): unknown {
  const value = entryOf(root, key)?.value;
  return value?.kind === 'scalar' ? value.value : undefined;
}

/** Children that start the workflow again, with no condition on the way that could keep them from it. */
function checkCycles({ root, workflows }: ChildrenToCheck, document: WorkflowDocument, report: Report): void {
  const self: CataloguedWorkflow = { name: document.workflow, revision: document.revision ?? 1, document };
  const resolve = (child: CertainChild): CataloguedWorkflow | undefined => resolveChild(child, self, workflows);
  for (const child of certainChildrenOf(document)) {
    const first = resolve(child);
    const way = first && wayBack(first, self, resolve);
    const node = nodeAt(root, [...child.path, 'subWorkflow']);
    if (way === undefined || node === undefined) continue;
    const [next, ...others] = [...way.map(({ name }) => name), self.name];
    const chain = [next, ...others].map((name) => `\`${String(name)}\``).join(', which starts ');
    const message =
      way.length === 0 ? `\`${self.name}\` starts itself without end` : `this starts ${chain}, without end`;
    report.error('RS4024', node.range, message, 'put a `when` on one of them, so that the last one starts no more');
  }
}

/** Without a revision the newest is started; of the workflow itself that is this one, unless there is a newer. */
function resolveChild(
  { workflow, revision }: CertainChild,
  self: CataloguedWorkflow,
  workflows: WorkflowCatalogue | undefined,
): CataloguedWorkflow | undefined {
  const others = (workflows?.get(workflow) ?? []).filter(
    (each) => workflow !== self.name || each.revision !== self.revision,
  );
  const all = workflow === self.name ? [self, ...others] : others;
  if (revision !== undefined) return all.find((each) => each.revision === revision);
  return all.reduce<CataloguedWorkflow | undefined>(
    (newest, each) => (newest === undefined || each.revision > newest.revision ? each : newest),
    undefined,
  );
}

/** The workflows from the first up to the one that starts `self` again; undefined if none does. */
function wayBack(
  first: CataloguedWorkflow,
  self: CataloguedWorkflow,
  resolve: (child: CertainChild) => CataloguedWorkflow | undefined,
): CataloguedWorkflow[] | undefined {
  if (first === self) return [];
  const seen = new Set([first]);
  const open: CataloguedWorkflow[][] = [[first]];
  for (let way = open.shift(); way !== undefined; way = open.shift()) {
    const last = way.at(-1);
    for (const child of last === undefined ? [] : certainChildrenOf(last.document)) {
      const next = resolve(child);
      if (next === self) return way;
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      open.push([...way, next]);
    }
  }
  return undefined;
}
