import type { GraphEdge, GraphNode } from '../graph.js';
import type { Color, Paint } from './paint.js';

/**
 * The outline of a node. Leaves are filled with the colour of their state; boxes only bordered, since what is in them has its
 * own.
 */
export function shapePaint(node: GraphNode): Paint {
  const { state } = node;
  const own = node.kind === 'leaf' ? leafPaint(node.shape) : boxPaint(node.shape);
  if (state === undefined) return own;
  const stroke: Color = `${state.name}-border`;
  if (node.kind === 'box') return { ...own, stroke };
  const isUnseen = state.name === 'not-reached' || state.name === 'skipped';
  return { ...own, fill: `${state.name}-fill`, stroke, ...(isUnseen ? { dashes: '4 3' } : {}) };
}

function leafPaint(shape: Extract<GraphNode, { kind: 'leaf' }>['shape']): Paint {
  switch (shape) {
    case 'start':
    case 'end':
      return { fill: 'box', stroke: 'border' };
    case 'gate':
    case 'sleep':
    case 'child':
      return { fill: 'leaf', stroke: 'accent' };
    case 'fail':
      return { fill: 'leaf', stroke: 'danger' };
    case 'complete':
      return { fill: 'leaf', stroke: 'border', strokeWidth: 2.4 };
    case 'nothing':
      return { fill: 'none', stroke: 'faint', dashes: '4 3' };
    case 'pivot':
      return { fill: 'leaf', stroke: 'none' };
    default:
      return { fill: 'leaf', stroke: 'border' };
  }
}

function boxPaint(shape: Extract<GraphNode, { kind: 'box' }>['shape']): Paint {
  switch (shape) {
    case 'lane':
      return { fill: 'box', stroke: 'border', dashes: '5 4' };
    case 'parallel':
      return { fill: 'box', stroke: 'accent' };
    case 'loop':
      return { fill: 'box', stroke: 'loop' };
    case 'handler':
      return { fill: 'box', stroke: 'danger', dashes: '5 4' };
    default:
      return { fill: 'box', stroke: 'border' };
  }
}

/** The two lines at the sides of a child, and those above and below a pivot. */
export function rulePaint(node: GraphNode, plain: Color, strokeWidth?: number): Paint {
  const stroke = node.state === undefined ? plain : (`${node.state.name}-border` as const);
  return { fill: 'none', stroke, ...(strokeWidth === undefined ? {} : { strokeWidth }) };
}

/** @param role `title`, `state`, or the role of a line */
export function textColor(node: GraphNode, role: string): Color {
  const { state } = node;
  if (state !== undefined) {
    if (node.kind === 'leaf') return `${state.name}-text`;
    if (role === 'state') return `${state.name}-border`;
    if (state.name === 'not-reached') return 'not-reached-text';
  }
  if (role === 'undo') return 'undo';
  return role === 'title' && node.shape !== 'nothing' ? 'text' : 'quiet';
}

/** What becomes of an edge: the head of its arrow is called the same. */
export type EdgeLook = 'next' | 'error' | 'untaken';

export function lookOf({ kind, untaken }: GraphEdge): EdgeLook {
  return untaken === true ? 'untaken' : kind;
}

export const edgeColors: Readonly<Record<EdgeLook, Color>> = { next: 'edge', error: 'danger', untaken: 'faint' };
