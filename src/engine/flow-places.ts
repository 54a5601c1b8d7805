import { type Item, type WorkflowDocument, itemKey, walkItems } from '../definition/index.js';
import type { JournalRow } from '../storage/index.js';

type Path = readonly (string | number)[];

interface Stand {
  readonly item: Item | undefined;
  readonly path: Path;
}

/** Where the items of a flow stand, for those who read its journal. Of a flow that is not stored nothing is known. */
export class FlowPlaces {
  readonly #stands = new Map<string, Stand>();
  /** Paths of the items that are loops. */
  readonly #loops = new Set<string>();

  constructor(document: WorkflowDocument | undefined) {
    if (document === undefined) return;
    walkItems(document, ({ item, key, place, path }) => {
      this.#stands.set(key, { item, path });
      if ('forEach' in item || 'doWhile' in item || 'doUntil' in item) this.#loops.add(path.join('\n'));
      if ('waitFor' in item && item.remind !== undefined) {
        const reminder = itemKey(item.remind, `${place}.remind`);
        this.#stands.set(reminder, { item: undefined, path: [...path, 'remind'] });
      }
    });
  }

  /** Undefined for a reminder. */
  item(key: string): Item | undefined {
    return this.#stands.get(key)?.item;
  }

  /** Whether a `scope-aborted` entry has ended what was open at this place. */
  ends(aborted: JournalRow, { step, occurrence }: { readonly step: string; readonly occurrence: string }): boolean {
    const inner = this.#stands.get(step)?.path;
    if (inner === undefined) return false;
    if (aborted.step === null) return inner[0] === 'steps';
    const outer = this.#stands.get(aborted.step)?.path;
    if (outer === undefined || !outer.every((segment, index) => segment === inner[index])) return false;
    // The body of an item, or its reminders; its `onError` is outside.
    if (inner.length === outer.length || inner[outer.length] === 'onError') return false;
    const turns = aborted.occurrence ?? '0';
    return !this.#isInLoop(outer) || occurrence === turns || occurrence.startsWith(`${turns}.`);
  }

  #isInLoop(path: Path): boolean {
    return path.some((segment, index) => segment === 'do' && this.#loops.has(path.slice(0, index).join('\n')));
  }
}
