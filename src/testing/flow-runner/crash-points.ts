import { parseDuration } from '../../common/index.js';
import type { HandlerContext } from '../../handlers/index.js';
import type { JournalRow, Unit } from '../../storage/index.js';
import type { ItemPlaces } from '../world/item-places.js';
import type { CrashPoint } from '../flow-tests/index.js';
import type { Written } from './test-case.js';
import { TurnWatch, isMeant, placeIn } from './turn-watch.js';

interface OpenPoint {
  readonly point: Written<CrashPoint>;
  /** Of one that comes after an item, or while one is under way that calls no handler; a call is seen as it is made. */
  readonly watch: ((row: JournalRow) => boolean) | undefined;
}

/** The places at which a test lets the process die, each once. */
export class CrashPoints {
  readonly #open: OpenPoint[];
  #downMs = 0;

  constructor(points: readonly Written<CrashPoint>[], places: ItemPlaces) {
    this.#open = points.map((point) => {
      return { point, watch: watchOf(point.what, places) };
    });
  }

  /** Whether the process dies with this unit of the run under test, which is still written. */
  isReachedBy({ entries }: Unit): boolean {
    const reached = this.#open.filter(({ watch }) => entries.some((row) => watch?.(row) === true));
    for (const open of reached) this.#close(open);
    return reached.length > 0;
  }

  /** Whether the process dies while a handler is called by the run under test. */
  isReachedIn({ step, forwardIdempotencyKey }: HandlerContext<unknown>): boolean {
    const reached = this.#open.find(({ point: { what } }) => {
      if (!('during' in what)) return false;
      const place = placeIn(what.during);
      return isMeant(place, step) && place.compensation === (forwardIdempotencyKey !== undefined);
    });
    if (reached !== undefined) this.#close(reached);
    return reached !== undefined;
  }

  /** For how long nobody is there after the last death, in milliseconds; asked once for each. */
  takeDowntime(): number {
    const downMs = this.#downMs;
    this.#downMs = 0;
    return downMs;
  }

  /** Those that the run never came to. */
  get left(): readonly Written<CrashPoint>[] {
    return this.#open.map(({ point }) => point);
  }

  /** The process dies at its time, whatever it is doing. */
  close(point: Written<CrashPoint>): void {
    const open = this.#open.find((each) => each.point === point);
    if (open !== undefined) this.#close(open);
  }

  #close(open: OpenPoint): void {
    this.#open.splice(this.#open.indexOf(open), 1);
    const { down } = open.point.what;
    if (down !== undefined) this.#downMs = Math.max(this.#downMs, parseDuration(down));
  }
}

function watchOf(point: CrashPoint, places: ItemPlaces): OpenPoint['watch'] {
  if ('after' in point && point.after !== undefined) {
    const watch = new TurnWatch(placeIn(point.after), places);
    return (row) => watch.ends(row);
  }
  if (!('during' in point)) return undefined;
  const place = placeIn(point.during);
  const verb = places.get(place.item)?.verb;
  if (place.compensation || verb === 'step' || verb === 'remind') return undefined;
  return (row) =>
    places.begunBy(row).some((turn) => isMeant(place, { key: turn.place.key, occurrence: turn.occurrence }));
}
