import type { GraphEdge } from '../graph.js';
import type { Sized } from './placed.js';

/** A part of a list, with the edges inside it and those that come from it into the next part. */
export interface Column {
  readonly nodes: readonly Sized[];
  readonly edges: readonly GraphEdge[];
  /** All to the first node of the next column. */
  readonly leaving: readonly GraphEdge[];
  /** Those that leave the column before, for the first node of this one. */
  readonly entering: readonly GraphEdge[];
}

/** A list that needs no more height than this stays in one column. */
const comfortable = 900;
/** Width to height of a page. */
const aspect = 1.5;
const between = 40;
/** Of fewer nodes, large ones, columns would tear apart what belongs together. */
const leastToCut = 7;

/** Cuts a list into columns of about the same height, only where nothing but the step from one item to the next is cut. */
export function columnsOf(nodes: readonly Sized[], edges: readonly GraphEdge[]): Column[] {
  const whole = heightOf(nodes);
  const width = Math.max(0, ...nodes.map((node) => node.width)) + between;
  const count =
    whole <= comfortable || nodes.length < leastToCut
      ? 1
      : Math.max(1, Math.round(Math.sqrt((aspect * whole) / width)));
  const parts: Sized[][] = [[]];
  for (const [index, node] of nodes.entries()) {
    const current = parts.at(-1) ?? [];
    const isLong = heightOf([...current, node]) > (whole / count) * 1.08 && heightOf(current) > (whole / count) * 0.5;
    if (current.length > 0 && parts.length < count && isLong && canCut(nodes, edges, index)) parts.push([node]);
    else current.push(node);
  }
  const columnAt = new Map(parts.flatMap((part, at) => part.map(({ node }) => [node.id, at] as const)));
  return parts.map((part, at) => ({
    nodes: part,
    edges: edges.filter(({ from, to }) => columnAt.get(from) === at && columnAt.get(to) === at),
    leaving: edges.filter(({ from, to }) => columnAt.get(from) === at && columnAt.get(to) !== at),
    entering: edges.filter(({ from, to }) => columnAt.get(from) !== at && columnAt.get(to) === at),
  }));
}

function heightOf(nodes: readonly Sized[]): number {
  return nodes.reduce((height, node) => height + node.height + between, 0);
}

/** Whether all that comes over the cut comes to the first node after it. */
function canCut(nodes: readonly Sized[], edges: readonly GraphEdge[], index: number): boolean {
  const before = new Set(nodes.slice(0, index).map(({ node }) => node.id));
  const first = nodes[index]?.node.id;
  const crossing = edges.filter(({ from, to }) => before.has(from) && !before.has(to));
  return crossing.length > 0 && crossing.every(({ to, label }) => to === first && label === undefined);
}
