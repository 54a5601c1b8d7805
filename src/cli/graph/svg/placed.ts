import type { GraphEdge, GraphNode } from '../graph.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where a node stands, in pixels from the upper left corner of what it was placed in. */
export interface PlacedNode extends Point {
  readonly node: GraphNode;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge {
  readonly edge: GraphEdge;
  readonly points: readonly Point[];
  /** Whether it ends here, not in the next column. */
  readonly arrow: boolean;
  /** Of the middle of the label. */
  readonly label?: Point;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Outer ones before those inside them. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** A node with the room that it needs, and what it holds. */
export interface Sized {
  readonly node: GraphNode;
  readonly width: number;
  readonly height: number;
  readonly content?: Layout;
}

/** A node at its place, with all that is in it. */
export function placed({ node, width, height, content }: Sized, x: number, y: number): Layout {
  const inside = content === undefined ? { nodes: [], edges: [] } : moved(content, x, y);
  return { width, height, nodes: [{ node, x, y, width, height }, ...inside.nodes], edges: inside.edges };
}

/** All of it, so much further to the right and down. */
export function moved({ width, height, nodes, edges }: Layout, x: number, y: number): Layout {
  const by = (point: Point): Point => ({ x: point.x + x, y: point.y + y });
  return {
    width,
    height,
    nodes: nodes.map((each) => ({ ...each, ...by(each) })),
    edges: edges.map((each) => ({
      ...each,
      points: each.points.map(by),
      ...(each.label !== undefined && { label: by(each.label) }),
    })),
  };
}
