import { type MappingNode, type Range, type SyntaxNode, entryOf } from '../syntax/index.js';

/** A file that was written for another tool. */
export interface OtherTool {
  readonly tool: string;
  /** The key that shows it. */
  readonly range: Range;
  /** Where to begin. */
  readonly help: string;
}

const begin = 'begin with `workflow: <name>` and `steps:`';

interface Sign {
  readonly tool: string;
  /** The key that is underlined; must be there, with all of `others`. */
  readonly key: string;
  readonly others?: readonly string[];
  readonly fits?: (value: SyntaxNode, root: MappingNode) => boolean;
  readonly help: string;
}

/** What nobody writes who means a flow of ours; the more special first. */
const signs: readonly Sign[] = [
  {
    tool: 'GitHub Actions',
    key: 'jobs',
    fits: (jobs) => someMember(jobs, ['runs-on', 'uses', 'needs']),
    help: `${begin}; each \`uses\` or \`run\` becomes a \`step: <handler>\`, each \`if\` a \`when\`, jobs that \`needs\` does not order a \`parallel\``,
  },
  {
    tool: 'Step Functions',
    key: 'States',
    others: ['StartAt'],
    help: `${begin}, the states in the order in which they run; a Task becomes a \`step\`, a Choice a \`branch\`, a Wait a \`sleep\`, a Map a \`forEach\`, \`Next\` is not needed`,
  },
  {
    tool: 'Serverless Workflow',
    key: 'document',
    fits: (document) => entryOf(document, 'dsl') !== undefined,
    help: `${begin}; a \`call\` becomes a \`step: <handler>\`, a \`switch\` a \`branch\`, a \`for\` a \`forEach\`, a \`fork\` a \`parallel\`, a \`try\` a \`group\` with \`onError\``,
  },
  {
    tool: 'Serverless Workflow',
    key: 'states',
    fits: (states) => states.kind === 'sequence' && states.items.some((state) => entryOf(state, 'type') !== undefined),
    help: `${begin}, the states in the order in which they run; an action becomes a \`step: <handler>\`, a \`switch\` a \`branch\`, \`transition\` is not needed`,
  },
  {
    tool: 'Kestra',
    key: 'tasks',
    others: ['id', 'namespace'],
    help: `${begin}; each task becomes a \`step: <handler>\`, its properties stand under \`with\`, \`{{ inputs.x }}\` is \`=$input.x\``,
  },
  {
    tool: 'Conductor',
    key: 'tasks',
    fits: (tasks) =>
      tasks.kind === 'sequence' && tasks.items.some((task) => entryOf(task, 'taskReferenceName') !== undefined),
    help: `${begin}; each task becomes a \`step: <handler>\` with its \`taskReferenceName\` as \`id\``,
  },
  {
    tool: 'Kubernetes (Argo, Tekton)',
    key: 'apiVersion',
    others: ['kind', 'spec'],
    help: `${begin}; each template or task becomes a \`step: <handler>\``,
  },
  {
    tool: 'Google Cloud Workflows',
    key: 'main',
    fits: (main) => entryOf(main, 'steps') !== undefined,
    help: `${begin}; each \`call\` becomes a \`step: <handler>\`, its \`args\` stand under \`with\`, its name becomes its \`id\``,
  },
  {
    tool: 'n8n',
    key: 'nodes',
    others: ['connections'],
    help: `${begin}, the nodes in the order in which they run; each becomes a \`step: <handler>\``,
  },
  {
    tool: 'Azure Pipelines',
    key: 'pool',
    fits: (_, root) => ['stages', 'jobs', 'steps'].some((key) => entryOf(root, key) !== undefined),
    help: `${begin}; each \`task\` or \`script\` becomes a \`step: <handler>\``,
  },
];

/** Whether a file was written for another tool as a whole, so that one message says more than forty. */
export function otherTool(root: SyntaxNode): OtherTool | undefined {
  if (root.kind === 'sequence') return playbook(root.items);
  // Who has begun a flow is told of each word that does not belong there.
  if (root.kind !== 'mapping' || entryOf(root, 'workflow') !== undefined) return undefined;
  for (const { tool, key, others = [], fits, help } of signs) {
    const entry = entryOf(root, key);
    if (entry === undefined || others.some((other) => entryOf(root, other) === undefined)) continue;
    if (fits === undefined || fits(entry.value, root)) return { tool, range: entry.key.range, help };
  }
  return undefined;
}

function playbook(plays: readonly SyntaxNode[]): OtherTool | undefined {
  const hosts = plays.map((play) => entryOf(play, 'hosts')).find((entry) => entry !== undefined);
  if (hosts === undefined) return undefined;
  return { tool: 'Ansible', range: hosts.key.range, help: `${begin}; each task becomes a \`step: <handler>\`` };
}

function someMember(node: SyntaxNode, keys: readonly string[]): boolean {
  if (node.kind !== 'mapping') return false;
  return node.entries.some(({ value }) => keys.some((key) => entryOf(value, key) !== undefined));
}
