import { type Item, type WorkflowDocument, walkItems } from '../definition/index.js';

/**
 * Under which name `$steps` knows an item: its id, or its handler's name where that is a plain identifier, no
 * id is the same and no other item without id calls that handler.
 */
export function stepNames(document: WorkflowDocument): ReadonlyMap<Item, string> {
  const ids = new Set<string>();
  const byHandler = new Map<string, Item[]>();
  const names = new Map<Item, string>();
  walkItems(document, ({ item }) => {
    if (item.id !== undefined) {
      ids.add(item.id);
      names.set(item, item.id);
    } else if ('step' in item && /^[A-Za-z_]\w*$/.test(item.step)) {
      byHandler.set(item.step, [...(byHandler.get(item.step) ?? []), item]);
    }
  });
  for (const [handler, [first, ...others]] of byHandler) {
    if (first !== undefined && others.length === 0 && !ids.has(handler)) names.set(first, handler);
  }
  return names;
}
