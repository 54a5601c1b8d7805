import type { ELK, ElkExtendedEdge, ElkLabel, ElkNode } from 'elkjs/lib/elk-api.js';
import type { GraphEdge } from '../graph.js';
import type { Column } from './columns.js';
import { type Layout, type PlacedEdge, type PlacedNode, type Point, type Sized, placed } from './placed.js';
import { sizes } from './sizes.js';
import { textWidth } from './text-width.js';

/** A column as it is laid out. */
export interface Layered {
  readonly layout: Layout;
  /** Where the line from the column before ends, and what it stands for. */
  readonly entry?: Point & { readonly edge: GraphEdge };
  /** Where the line to the next column begins. */
  readonly exit?: Point;
}

const joint = 'joint';

/** Lays nodes without their contents out in layers, from top to bottom. */
export async function layOutLayers({ nodes, edges, leaving, entering }: Column): Promise<Layered> {
  const drawn = [...edges, ...leaving.map((edge) => ({ ...edge, to: joint }))];
  // What follows an error stands to the right of what comes next.
  const handlers = new Set(edges.filter(({ kind }) => kind === 'error').map(({ to }) => to));
  const ordered = [...nodes].sort((a, b) => Number(handlers.has(a.node.id)) - Number(handlers.has(b.node.id)));
  const byKind = [...drawn].sort((a, b) => Number(a.kind === 'error') - Number(b.kind === 'error'));
  const root: ElkNode = {
    id: 'root',
    layoutOptions: options,
    children: [
      ...ordered.map(({ node, width, height }) => ({ id: node.id, width, height })),
      ...(leaving.length === 0 ? [] : [{ id: joint, width: 2, height: 2 }]),
    ],
    edges: byKind.map(toElkEdge),
  };
  loaded ??= newElk();
  const result = await (await loaded).layout(root);
  return gathered(result, nodes, byKind, entering);
}

/** Half a megabyte that takes its time to start. */
let loaded: Promise<ELK> | undefined;

async function newElk(): Promise<ELK> {
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js');
  return new Elk.default();
}

const options: Record<string, string> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': '[top=0,left=0,bottom=0,right=0]',
  'elk.spacing.nodeNode': '24',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
};

function toElkEdge({ from, to, label, kind }: GraphEdge, index: number): ElkExtendedEdge {
  return {
    id: `e${index}`,
    sources: [from],
    targets: [to],
    layoutOptions: { 'elk.layered.priority.straightness': kind === 'error' ? '1' : '10' },
    ...(label !== undefined && {
      labels: [{ text: label.text, width: textWidth(label.text, sizes.edge) + 8, height: sizes.lineHeight }],
    }),
  };
}

function gathered(
  { width = 0, height = 0, children = [], edges: routed = [] }: ElkNode,
  sized: readonly Sized[],
  drawn: readonly GraphEdge[],
  entering: readonly GraphEdge[],
): Layered {
  const at = new Map(children.map(({ id, x = 0, y = 0 }): [string, Point] => [id, { x, y }]));
  const nodes: PlacedNode[] = [];
  const edges: PlacedEdge[] = [];
  for (const each of sized) {
    const { x = 0, y = 0 } = at.get(each.node.id) ?? {};
    const { nodes: inner, edges: innerEdges } = placed(each, x, y);
    nodes.push(...inner);
    edges.push(...innerEdges);
  }
  routed.forEach(({ sections = [], labels: [label] = [] }, index) => {
    const edge = drawn[index];
    if (edge === undefined) return;
    const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
      startPoint,
      ...bendPoints,
      endPoint,
    ]);
    edges.push({ edge, points, arrow: edge.to !== joint, ...(label !== undefined && { label: middleOf(label) }) });
  });
  const exit = at.get(joint);
  const [first] = sized;
  const top = first && nodes.find(({ node }) => node === first.node);
  const [edge] = [...entering].sort((a, b) => Number(a.untaken ?? false) - Number(b.untaken ?? false));
  return {
    layout: { width, height, nodes, edges },
    ...(exit !== undefined && { exit: { x: exit.x + 1, y: exit.y - 1 } }),
    ...(top !== undefined && edge !== undefined && { entry: { x: top.x + top.width / 2, y: top.y, edge } }),
  };
}

function middleOf({ x = 0, y = 0, width = 0, height = 0 }: ElkLabel): Point {
  return { x: x + width / 2, y: y + height / 2 };
}
