import type { JournalRow } from '../../storage/index.js';
import { type ItemPlaces, type Turn, isUndone } from '../world/item-places.js';
import { type Place, parsePlace } from '../flow-tests/index.js';

/** A place that the checker has let through; of any other text it is the item itself. */
export function placeIn(text: string): Place {
  return parsePlace(text) ?? { item: text, compensation: false };
}

/** Whether an item's turn is the one that is meant; without a number any is. */
export function isMeant(place: Place, turn: { readonly key: string; readonly occurrence: string }): boolean {
  return place.item === turn.key && (place.occurrence === undefined || place.occurrence === turn.occurrence);
}

/** Looks in the entries of a run for the end of an item, in the turn that is meant or the first that ends. */
export class TurnWatch {
  readonly #place: Place;
  readonly #places: ItemPlaces;
  readonly #begun = new Map<string, Turn>();
  #over = false;

  constructor(place: Place, places: ItemPlaces) {
    this.#place = place;
    this.#places = places;
  }

  /** Tells whether this entry is the first to show that the item is over. */
  ends(row: JournalRow): boolean {
    if (this.#over) return false;
    if (this.#place.compensation) {
      const turn = { key: row.step ?? '', occurrence: row.occurrence ?? '0' };
      this.#over = isMeant(this.#place, turn) && (isUndone(row) || row.kind === 'compensation-skipped');
      return this.#over;
    }
    for (const turn of this.#places.begunBy(row)) {
      const { place, occurrence } = turn;
      if (isMeant(this.#place, { key: place.key, occurrence })) this.#begun.set(occurrence, turn);
    }
    this.#over = [...this.#begun.values()].some((turn) => this.#places.isEndedBy(row, turn));
    return this.#over;
  }
}
