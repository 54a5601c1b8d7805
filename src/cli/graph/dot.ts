import { loggedCommands, oneLine } from '../../common/index.js';
import type { BoxShape, Graph, GraphEdge, GraphNode, Leaf, LeafShape, StateName } from './graph.js';
import { lightColors } from './state-colors.js';

/** The graph in the language of Graphviz. */
export function toDot(graph: Graph): string {
  const heading = [graph.title, ...graph.facts.map(({ text }) => text)];
  const lines = [
    `digraph ${quoted(graph.title)} {`,
    `  graph [compound=true, rankdir=TB, fontname="Helvetica", labelloc=t, label=${centred(heading)}]`,
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica", fontsize=11]',
    '  edge [fontname="Helvetica", fontsize=10]',
    ...contents(graph, new Map(), 1),
    '}',
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Where arrows to and from a node end: an arrow of Graphviz cannot end at a box, only be cut off at its border. */
interface Ends {
  readonly first: string;
  readonly last: string;
  readonly cluster?: string;
}

function contents({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, ends: Map<string, Ends>, depth: number): string[] {
  const lines = nodes.flatMap((node) => nodeLines(node, ends, depth));
  for (const node of nodes) ends.set(node.id, endsOf(node));
  return [...lines, ...edges.map((edge) => edgeLine(edge, ends, depth))];
}

function nodeLines(node: GraphNode, ends: Map<string, Ends>, depth: number): string[] {
  if (node.kind === 'leaf') return [`${indent(depth)}${node.id} [${attributesOf(node)}]`];
  const style = node.shape === 'handler' || node.shape === 'lane' ? 'rounded,dashed' : 'rounded';
  const color = node.state === undefined ? boxColors[node.shape] : lightColors[node.state.name].border;
  return [
    `${indent(depth)}subgraph cluster_${node.id} {`,
    `${indent(depth + 1)}graph [style="${style}", color=${quoted(color)}, labeljust=l, label=${leftAligned(textsOf(node))}]`,
    ...contents(node, ends, depth + 1),
    `${indent(depth)}}`,
  ];
}

function endsOf(node: GraphNode): Ends {
  if (node.kind === 'leaf') return { first: node.id, last: node.id };
  return { first: leaf(node, 0), last: leaf(node, -1), cluster: `cluster_${node.id}` };
}

function leaf(node: GraphNode, at: 0 | -1): string {
  const inner = node.kind === 'box' ? node.nodes.at(at) : undefined;
  return inner === undefined ? node.id : leaf(inner, at);
}

function edgeLine(
  { from, to, kind, label, untaken }: GraphEdge,
  ends: ReadonlyMap<string, Ends>,
  depth: number,
): string {
  const tail = ends.get(from);
  const head = ends.get(to);
  const attributes = [
    ...(tail?.cluster === undefined ? [] : [`ltail=${tail.cluster}`]),
    ...(head?.cluster === undefined ? [] : [`lhead=${head.cluster}`]),
    ...(label === undefined ? [] : [`label=${quoted(label.text)}`]),
    ...(kind === 'error' ? ['style=dashed', `color="${untaken === true ? '#c4cad1' : '#cf222e'}"`] : []),
    ...(kind === 'next' && untaken === true ? ['color="#c4cad1"', 'fontcolor="#8b949e"'] : []),
  ];
  const options = attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`;
  return `${indent(depth)}${tail?.last ?? from} -> ${head?.first ?? to}${options}`;
}

function attributesOf(node: Leaf): string {
  const { state } = node;
  const color = state === undefined ? [] : stateAttributes(state.name);
  return [`label=${centred(textsOf(node))}`, ...leafAttributes[node.shape], ...color].join(', ');
}

const leafAttributes: Readonly<Record<LeafShape, readonly string[]>> = {
  start: ['shape=oval'],
  end: ['shape=oval'],
  step: [],
  set: ['shape=note'],
  gate: ['shape=hexagon', 'style=filled'],
  sleep: ['shape=cds', 'style=filled'],
  child: ['peripheries=2'],
  pivot: ['shape=box', 'style="filled,bold"'],
  complete: ['shape=oval', 'peripheries=2'],
  fail: ['shape=octagon', 'style=filled'],
  decision: ['shape=diamond', 'style=filled', 'width=0.3', 'height=0.3'],
  nothing: ['shape=plaintext', 'fontcolor="#8b949e"'],
};

const boxColors: Readonly<Record<BoxShape, string>> = {
  group: '#8c959f',
  branch: '#8c959f',
  parallel: '#0969da',
  lane: '#0969da',
  loop: '#8250df',
  handler: '#cf222e',
  section: '#57606a',
};

function stateAttributes(name: StateName): string[] {
  const { fill, border, text } = lightColors[name];
  return [`fillcolor="${fill}"`, `color="${border}"`, `fontcolor="${text}"`];
}

function textsOf({ title, lines, state }: GraphNode): string[] {
  return [
    title.text,
    ...lines.map(({ text }) => text),
    ...(state === undefined || state.text === '' ? [] : [state.text]),
  ];
}

function centred(texts: readonly string[]): string {
  return `"${texts.map(escapeText).join('\\n')}"`;
}

function leftAligned(texts: readonly string[]): string {
  return `"${texts.map((text) => `${escapeText(text)}\\l`).join('')}"`;
}

function quoted(text: string): string {
  return `"${escapeText(text)}"`;
}

/** A backslash begins an escape of a label (`\N` is the node's name), a quote ends the text, `&` begins an entity. */
function escapeText(text: string): string {
  return oneLine(text).replaceAll('&', '&amp;').replace(/[\\"]/g, '\\$&').replace(loggedCommands, '#&#35;');
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
