import type { Enclosure, FlowItem, FlowRoot, Standing } from '../flow-model.js';
import { cannotFail } from './cannot-fail.js';

/** Where in the structure of a flow something stands that reads. */
export interface Position {
  readonly root: FlowRoot;
  readonly within: readonly Enclosure[];
  readonly index: number;
  /** The item whose own field it is. */
  readonly owner?: FlowItem;
}

export function positionOf(standing: Exclude<Standing, { kind: 'policy' }>, within: readonly Enclosure[]): Position {
  switch (standing.kind) {
    case 'when':
    case 'field': {
      const { item } = standing;
      return { root: item.root, within, index: item.index, owner: item };
    }
    case 'turn': {
      const { root, verb } = standing.item;
      return { root, within, index: verb === 'doWhile' ? -1 : Infinity };
    }
    case 'choice': {
      const { item, kind } = standing.enclosure;
      if (kind === 'handler') return { root: item.root, within, index: -1 };
      return { root: item.root, within, index: item.index, owner: item };
    }
    case 'end':
      return { root: 'steps', within, index: Infinity };
  }
}

/** Turns of a `forEach` and branches of a `parallel` never see one another's. */
export function hiddenBy(item: FlowItem, within: readonly Enclosure[]): Enclosure | undefined {
  return item.within.find((enclosure) => {
    if (enclosure.kind === 'element') return !within.includes(enclosure);
    return enclosure.kind === 'branch' && within.some((each) => isSibling(each, enclosure));
  });
}

function isSibling(some: Enclosure, other: Enclosure): boolean {
  return some.kind === 'branch' && some.item === other.item && some !== other;
}

export const roots: readonly FlowRoot[] = ['steps', 'onFailure', 'finally'];

export function commonDepth(some: readonly Enclosure[], others: readonly Enclosure[]): number {
  let depth = 0;
  while (depth < some.length && some[depth] === others[depth]) depth++;
  return depth;
}

/** The innermost loop around both whose last turn may have left the item's output. */
export function carrierOf(item: FlowItem, depth: number): FlowItem | undefined {
  for (let level = item.within.length - 1; level >= 0; level--) {
    const enclosure = item.within[level];
    // The turns of a `forEach` leave nothing behind.
    if (enclosure === undefined || enclosure.kind === 'element') return undefined;
    if (enclosure.kind === 'turn' && level < depth) return enclosure.item;
  }
  return undefined;
}

export function bodyOf(loop: FlowItem): Enclosure {
  const [body] = loop.bodies;
  if (body === undefined) throw new TypeError('fault in the checker: a loop without a body around an item');
  return body;
}

/** Whether nothing up to the item, in the group at that depth, can fail. */
export function isSafeStart(item: FlowItem, depth: number): boolean {
  if (item.within.length !== depth + 1) return false;
  return item.siblings.slice(0, item.index + 1).every((each) => each.when === undefined && cannotFail(each));
}
