import type { FlowItem, FlowModel } from './flow-model.js';

/** Under which names `$steps` knows the items of a file. */
export interface StepNames {
  readonly items: ReadonlyMap<string, FlowItem>;
  /** Names of handlers that several items without an id call, so that the name does not say which is meant. */
  readonly ambiguous: ReadonlyMap<string, readonly FlowItem[]>;
}

/**
 * An item is known by its id; a `step` without one by its handler's name where that is a plain identifier, no explicit
 * id has that name and no other such item exists.
 */
export function stepNamesOf(model: FlowModel): StepNames {
  const items = new Map<string, FlowItem>();
  const byHandler = new Map<string, FlowItem[]>();
  for (const item of model.items) {
    if (item.id !== undefined) {
      if (!items.has(item.id.value)) items.set(item.id.value, item);
    } else if (item.handler !== undefined && /^[A-Za-z_]\w*$/.test(item.handler)) {
      byHandler.set(item.handler, [...(byHandler.get(item.handler) ?? []), item]);
    }
  }
  const ambiguous = new Map<string, FlowItem[]>();
  for (const [name, [first, ...others]] of byHandler) {
    if (first === undefined || items.has(name)) continue;
    if (others.length === 0) items.set(name, first);
    else ambiguous.set(name, [first, ...others]);
  }
  return { items, ambiguous };
}
