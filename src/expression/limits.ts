/**
 * What one evaluation may use. Everything here guards the process against a formula, written by
 * mistake or by malice; none of it is reached by honest work on payloads of the size that a run stores.
 */
export const limits = {
  /** Time of its own, in milliseconds: what other evaluations, the event loop and other programs take does not count. */
  timeMs: 1000,
  /** Longest stretch without letting the event loop run, in milliseconds. */
  sliceMs: 10,
  /** Calls of functions inside one another. */
  calls: 500,
  /** Characters of a string, items of a list. */
  length: 1_000_000,
  /** Values plus characters of one value, everything inside it counted where it stands. */
  weight: 10_000_000,
  /** Items of all lists made on the way; eight characters of a string count as one. */
  made: 50_000_000,
  /** Operators and brackets of one formula inside one another. */
  formulaDepth: 500,
  /** Tokens of one formula. */
  tokens: 50_000,
  /** Lists and objects inside one another in a result. */
  nesting: 1000,
} as const;
