import type { StateName } from '../run-tree/index.js';

export type { StateName };

/**
 * A flow as boxes and arrows, before it is drawn in any format. An edge joins two nodes of the list in which it
 * stands, so that each box can be laid out by itself.
 */
export interface Graph {
  readonly title: string;
  /** One sentence for those who cannot see the picture. */
  readonly about: string;
  /** Below the title: the revision; of a run its id, state and error. */
  readonly facts: readonly Label[];
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export type GraphNode = Leaf | Box;

export type LeafShape =
  | 'start'
  | 'end'
  | 'step'
  | 'set'
  | 'gate'
  | 'sleep'
  | 'child'
  | 'pivot'
  | 'complete'
  | 'fail'
  /** Where the arms of a branch part. */
  | 'decision'
  /** An arm or a branch in which nothing happens. */
  | 'nothing';

export type BoxShape = 'group' | 'branch' | 'parallel' | 'lane' | 'loop' | 'handler' | 'section';

interface NodeBase {
  /** Unique in the graph, a plain identifier: `n7`. */
  readonly id: string;
  readonly title: Label;
  readonly lines: readonly Line[];
  /** Of a run: how it went here. */
  readonly state?: NodeState;
}

export interface Leaf extends NodeBase {
  readonly kind: 'leaf';
  readonly shape: LeafShape;
}

export interface Box extends NodeBase {
  readonly kind: 'box';
  readonly shape: BoxShape;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** A text as it is shown, and the whole of it where it was shortened. */
export interface Label {
  readonly text: string;
  readonly full?: string;
}

export interface Line extends Label {
  /** `condition`: when it runs at all. `undo`: what takes it back. */
  readonly role: 'detail' | 'condition' | 'undo';
}

export interface NodeState {
  readonly name: StateName;
  /** In words, with counts where there were several turns. */
  readonly text: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** `error`: taken when what it comes from fails. */
  readonly kind: 'next' | 'error';
  readonly label?: Label;
  /** Of a run: it has not gone this way. */
  readonly untaken?: boolean;
}

/** Every node, those in boxes too, an outer one before those inside it. */
export function* allNodes(nodes: readonly GraphNode[]): Generator<GraphNode> {
  for (const node of nodes) {
    yield node;
    if (node.kind === 'box') yield* allNodes(node.nodes);
  }
}
