import type { Place } from '../interpreter/index.js';

/** A timer whose time has come. A due time alone makes nothing ready: the entry that says so does. */
export interface Due {
  readonly place: Place;
  /** When it was due. */
  readonly at: number;
  /** What the entry says it was. */
  readonly why: string;
  /** It ends something, and stands only if nothing came in time. */
  readonly isDeadline: boolean;
  readonly settle: (seq: number) => void;
}

/** The earlier one; of the same time a deadline, so that nothing begins that it is about to end. */
export function earlierOf(one: Due | undefined, other: Due | undefined): Due | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.at !== other.at) return one.at < other.at ? one : other;
  return other.isDeadline && !one.isDeadline ? other : one;
}
