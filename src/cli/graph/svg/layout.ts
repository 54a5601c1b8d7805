import type { Box, Graph, GraphNode } from '../graph.js';
import { columnsOf } from './columns.js';
import { type Layered, layOutLayers } from './layers.js';
import { type Layout, type PlacedEdge, type PlacedNode, type Point, type Sized, moved, placed } from './placed.js';
import { sizes, textSize } from './sizes.js';

const columnGap = 56;
const laneGap = 20;
/** How far the line to the next column goes below its own. */
const turn = 18;

/**
 * Lays a graph out from top to bottom. Each box is laid out by itself and is then one node of what it stands in; long
 * lists go on in another column, so that the picture keeps the shape of a page.
 */
export async function layOut({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>): Promise<Layout> {
  const sized: Sized[] = [];
  for (const node of nodes) sized.push(await sizeOf(node));
  const columns = columnsOf(sized, edges);
  const layers: Layered[] = [];
  for (const column of columns) layers.push(await layOutLayers(column));
  return sideBySide(layers);
}

async function sizeOf(node: GraphNode): Promise<Sized> {
  const head = textSize(node);
  if (node.kind === 'leaf') return { node, ...head };
  const inside = node.shape === 'parallel' ? await layOutLanes(node) : await layOut(node);
  const { margin } = sizes;
  const width = Math.max(head.width, inside.width + 2 * margin);
  const top = head.height + margin / 2 - 4;
  const content = moved(inside, (width - inside.width) / 2, top);
  return { node, width, height: top + inside.height + margin, content };
}

async function layOutLanes({ nodes }: Box): Promise<Layout> {
  const lanes: Layout[] = [];
  let x = 0;
  let height = 0;
  for (const node of nodes) {
    const lane = await sizeOf(node);
    lanes.push(placed(lane, x, 0));
    x += lane.width + laneGap;
    height = Math.max(height, lane.height);
  }
  return {
    width: x - laneGap,
    height,
    // As high as the highest: they end together.
    nodes: lanes.flatMap((lane) => lane.nodes.map((each, index) => (index === 0 ? { ...each, height } : each))),
    edges: lanes.flatMap(({ edges }) => edges),
  };
}

/** Columns from left to right, with the lines that lead from the end of each to the head of the next. */
function sideBySide(columns: readonly Layered[]): Layout {
  const [only] = columns;
  if (only !== undefined && columns.length === 1) return only.layout;
  const height = Math.max(...columns.map(({ layout }) => layout.height)) + 2 * turn;
  const nodes: PlacedNode[] = [];
  const edges: PlacedEdge[] = [];
  let x = 0;
  let from: Point | undefined;
  for (const { layout, entry, exit } of columns) {
    const column = moved(layout, x, turn);
    nodes.push(...column.nodes);
    edges.push(...column.edges);
    if (from !== undefined && entry !== undefined) {
      const gutter = x - columnGap / 2;
      const top = { x: entry.x + x, y: entry.y + turn };
      const points = [
        from,
        { x: from.x, y: height },
        { x: gutter, y: height },
        { x: gutter, y: 0 },
        { x: top.x, y: 0 },
        top,
      ];
      edges.push({ edge: entry.edge, points, arrow: true });
    }
    from = exit && { x: exit.x + x, y: exit.y + turn };
    x += layout.width + columnGap;
  }
  return { width: x - columnGap, height, nodes, edges };
}
