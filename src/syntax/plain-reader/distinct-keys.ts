import type { MappingEntry } from '../tree.js';
import { giveUp } from './not-plain.js';

/** Gives up if two entries of a map have the same key. */
export function requireDistinctKeys(entries: readonly MappingEntry[]): void {
  if (entries.length > 1 && new Set(entries.map(({ key }) => key.value)).size < entries.length) giveUp();
}
