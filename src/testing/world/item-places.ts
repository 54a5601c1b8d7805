import { type Definition, type Item, type Verb, itemKey, walkItems } from '../../definition/index.js';
import { outerTurn } from '../../engine/index.js';
import type { JournalRow } from '../../storage/index.js';
import type { Path } from '../../syntax/index.js';

/** Where an item of a flow stands. */
export interface ItemPlace {
  readonly key: string;
  readonly path: Path;
  /** Undefined for a reminder. */
  readonly item: Item | undefined;
  readonly verb: Verb | 'remind';
  /** The items around it, the outermost first. */
  readonly around: readonly ItemPlace[];
  /** How many of those repeat it. */
  readonly loops: number;
}

/** An item in one turn of its loops. */
export interface Turn {
  readonly place: ItemPlace;
  readonly occurrence: string;
}

/** The items of a flow by their keys, for those who read its journals. */
export class ItemPlaces {
  readonly #places = new Map<string, ItemPlace>();

  constructor({ document }: Pick<Definition, 'document'>) {
    const byPath: ItemPlace[] = [];
    walkItems(document, ({ item, key, place, path, verb }) => {
      const around = byPath.filter((outer) => isInside(path, outer.path));
      const own: ItemPlace = { key, path, item, verb, around, loops: countLoops(around, path) };
      byPath.push(own);
      this.#places.set(key, own);
      if ('waitFor' in item && item.remind !== undefined) {
        const reminder = itemKey(item.remind, `${place}.remind`);
        this.#places.set(reminder, {
          key: reminder,
          path: [...path, 'remind'],
          item: undefined,
          verb: 'remind',
          around: [...around, own],
          loops: own.loops + 1,
        });
      }
    });
  }

  get all(): readonly ItemPlace[] {
    return [...this.#places.values()];
  }

  get(key: string): ItemPlace | undefined {
    return this.#places.get(key);
  }

  /** The turns that a journal entry shows to have begun, by now at the latest: the outermost first. */
  begunBy(row: JournalRow): readonly Turn[] {
    const place = row.step === null ? undefined : this.#places.get(row.step);
    if (place === undefined || row.occurrence === null || isUndoing(row)) return [];
    const { occurrence } = row;
    const around = place.around.map((outer) => ({ place: outer, occurrence: outerTurn(occurrence, outer.loops) }));
    // The end of a turn, or of a branch, is told with the item that holds it.
    return beginsItem(row) ? [...around, { place, occurrence: outerTurn(occurrence, place.loops) }] : around;
  }

  /** Whether an entry shows that an item, which has begun, is over in this turn. */
  isEndedBy(row: JournalRow, { place, occurrence }: Turn): boolean {
    if (row.step === place.key && sameTurn(row.occurrence, occurrence)) return isEnd(row, place);
    if (row.step === null) return endsBody(row, place);
    const other = this.#places.get(row.step);
    if (other === undefined || isUndoing(row)) return false;
    if (isInside(place.path, other.path)) return endsInside(row, other, place, occurrence);
    return isLater(other.path, place.path) && isSamePass(row, other, place, occurrence);
  }
}

/** The compensation of a step, or what undoes a child, has come to an end. */
export function isUndone({ kind, payload }: JournalRow): boolean {
  if (kind === 'compensation-completed') return true;
  return kind === 'child-unwound' && (JSON.parse(payload ?? '{}') as { result?: string }).result === 'undone';
}

function isUndoing({ kind, aspect }: JournalRow): boolean {
  return (
    kind.startsWith('compensation-') ||
    kind === 'child-unwind' ||
    kind === 'child-unwound' ||
    kind === 'operator-decided' ||
    aspect?.includes('compensate.') === true
  );
}

/** Not where the entry only says that it was not wanted, or is its container's own. */
function beginsItem({ kind, aspect, payload }: JournalRow): boolean {
  if (kind === 'step-skipped' || kind === 'scope-aborted' || kind === 'child-cancelled') return false;
  if (kind === 'decision' && aspect === 'when') return payload === '{"value":true}';
  return true;
}

/** Entries of an item's own that say that it is over. A failure may yet be retried, or handled: what comes next tells. */
function isEnd({ kind, aspect, payload }: JournalRow, { verb }: ItemPlace): boolean {
  const failed = (payload ?? '').startsWith('{"error":');
  switch (kind) {
    case 'step-completed':
    case 'signal-consumed':
    case 'pivot':
      return true;
    case 'child-settled':
      return (JSON.parse(payload ?? '{}') as { status?: string }).status === 'completed';
    case 'timer-fired':
      return verb === 'sleep' && aspect === 'until';
    case 'decision':
      return !failed && ((verb === 'set' && aspect === 'value') || aspect === 'onTimeout');
    default:
      return false;
  }
}

/** The body of the run is over, or its deadline has ended it. */
function endsBody({ kind }: JournalRow, { path }: ItemPlace): boolean {
  return (path[0] === 'steps' && kind === 'run-outcome') || kind === 'run-ended';
}

/** What an item around it says: that the turn or branch is over, or that it handles a failure. */
function endsInside(row: JournalRow, outer: ItemPlace, place: ItemPlace, occurrence: string): boolean {
  if (row.kind === 'scope-ended') {
    const branch = outer.verb === 'parallel' ? place.path[outer.path.length + 1] : undefined;
    if (branch !== undefined) return row.aspect === branch && isTurnOf(occurrence, row.occurrence, outer.loops);
    return isTurnOf(occurrence, row.occurrence, outer.loops + 1);
  }
  const isBody = place.path[outer.path.length] !== 'onError';
  if (row.kind !== 'decision' || !isTurnOf(occurrence, row.occurrence, outer.loops)) return false;
  // Asked after the turn, under the number of turns that are over by then.
  if (row.aspect === 'condition') return (row.occurrence ?? '') !== outerTurn(occurrence, outer.loops + 1);
  return row.aspect === 'onError' && isBody;
}

/** Of lists one after the other: the same pass through what holds both. */
function isSamePass(row: JournalRow, other: ItemPlace, place: ItemPlace, occurrence: string): boolean {
  const common = other.around.filter((outer) => place.around.includes(outer));
  const inner = common.at(-1);
  const turns =
    inner === undefined ? 0 : Math.min(other.loops, place.loops, inner.loops + (isLoop(inner.verb) ? 1 : 0));
  return isTurnOf(occurrence, row.occurrence, turns);
}

/** Later in the same list, or in one that comes after: `onError` after the body, `onFailure` and `finally` after `steps`. */
function isLater(path: Path, than: Path): boolean {
  const at = path.findIndex((segment, index) => segment !== than[index]);
  const [own, other] = [path[at], than[at]];
  if (typeof own === 'number' && typeof other === 'number') return own > other && path[at - 1] !== 'branch';
  if (at === 0) return lists.indexOf(String(own)) > lists.indexOf(String(other));
  return own === 'onError' && other !== 'remind';
}

const lists = ['steps', 'onFailure', 'finally'];

const isLoop = (verb: ItemPlace['verb']): boolean => verb === 'forEach' || verb === 'doWhile' || verb === 'doUntil';

function isInside(path: Path, outer: Path): boolean {
  return path.length > outer.length && outer.every((segment, index) => segment === path[index]);
}

function countLoops(around: readonly ItemPlace[], path: Path): number {
  return around.filter((outer) => isLoop(outer.verb) && path[outer.path.length] === 'do').length;
}

function sameTurn(one: string | null, other: string): boolean {
  return (one ?? '0') === other;
}

/** Whether both lie in the same turns of the outermost so many loops. */
function isTurnOf(occurrence: string, other: string | null, loops: number): boolean {
  return outerTurn(occurrence, loops) === outerTurn(other ?? '0', loops);
}
