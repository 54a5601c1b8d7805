import { type Item, type WorkflowDocument, itemKey, walkItems } from '../definition/index.js';
import type { JournalRow } from '../storage/index.js';

/** An item of a flow in one turn of the loops around it. */
export interface Turn {
  /** Key of the item. */
  readonly step: string;
  readonly occurrence: string;
}

/** An item around another one, in its turn; of a gate also around its reminders. */
export interface Around extends Turn {
  /** It is in the `onError` of that item, not in what this does itself. */
  readonly inOnError: boolean;
}

interface Stand {
  readonly key: string;
  /** Undefined for a reminder. */
  readonly item: Item | undefined;
  /** How many loops repeat it. */
  readonly loops: number;
  /** Not in `onFailure` or `finally`. */
  readonly inSteps: boolean;
  /** The innermost first. */
  readonly around: readonly { readonly stand: Stand; readonly inOnError: boolean }[];
}

/** Where the items of a flow stand, for those who read its journal. Of a flow that is not stored nothing is known. */
export class FlowPlaces {
  readonly #stands = new Map<string, Stand>();

  constructor(document: WorkflowDocument | undefined) {
    if (document === undefined) return;
    const byPath = new Map<string, Stand>();
    walkItems(document, ({ item, key, place, path, loops }) => {
      const around: { stand: Stand; inOnError: boolean }[] = [];
      for (let length = path.length - 1; length > 0; length -= 1) {
        const outer = byPath.get(path.slice(0, length).join('\n'));
        if (outer !== undefined) around.push({ stand: outer, inOnError: path[length] === 'onError' });
      }
      const stand: Stand = { key, item, loops, inSteps: path[0] === 'steps', around };
      byPath.set(path.join('\n'), stand);
      this.#stands.set(key, stand);
      if ('waitFor' in item && item.remind !== undefined) {
        const reminder = itemKey(item.remind, `${place}.remind`);
        const inGate = [{ stand, inOnError: false }, ...around];
        this.#stands.set(reminder, { ...stand, key: reminder, item: undefined, loops: loops + 1, around: inGate });
      }
    });
  }

  /** Undefined for a reminder. */
  item(key: string): Item | undefined {
    return this.#stands.get(key)?.item;
  }

  /** The item itself in its turn, of one of its entries: those of a loop may be of one of its own turns. */
  turnOf({ step, occurrence }: Turn): Turn {
    return { step, occurrence: outerTurn(occurrence, this.#stands.get(step)?.loops ?? 0) };
  }

  /** The innermost first. */
  around({ step, occurrence }: Turn): Around[] {
    return (this.#stands.get(step)?.around ?? []).map(({ stand: { key, loops }, inOnError }) => ({
      step: key,
      occurrence: outerTurn(occurrence, loops),
      inOnError,
    }));
  }

  /** Whether a `scope-aborted` entry has ended what was open at this place: in the item's body or reminders, not its `onError`. */
  ends(aborted: JournalRow, place: Turn): boolean {
    if (aborted.step === null) return this.#stands.get(place.step)?.inSteps === true;
    return this.around(place).some(
      ({ step, occurrence, inOnError }) =>
        !inOnError && step === aborted.step && occurrence === (aborted.occurrence ?? '0'),
    );
  }
}

/** The turns of the outermost so many loops; `0` outside any. */
export function outerTurn(occurrence: string, loops: number): string {
  return loops === 0 ? '0' : occurrence.split('.').slice(0, loops).join('.');
}
