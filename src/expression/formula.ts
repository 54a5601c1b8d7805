import type { JsonValue } from '../common/index.js';

import type { Program } from './program.js';

/** A formula that compiled. Immutable, shared by all who compile the same text. */
export interface Formula {
  /** Without the `=` in front, trimmed. */
  readonly text: string;
  /** Variables that the formula reads, without `$`; not among them its own, functions, and `$steps`. */
  readonly variables: ReadonlySet<string>;
  /** The ids in `$steps.<id>`; `all` where the formula uses `$steps` in another way. */
  readonly steps: ReadonlySet<string> | 'all';
  /** How it is evaluated: for `expression/` alone. */
  readonly program: Program;
}

/** Where the values of variables come from. Asked only for what the formula names. */
export interface Bindings {
  /** The value of `$name`; undefined where it has none. Never asked for `steps`. */
  variable(name: string): JsonValue | undefined;
  /** The value of `$steps.<id>`; undefined where it has none. */
  step(id: string): JsonValue | undefined;
  /** All ids of steps; asked only by a formula whose `steps` are `all`. */
  stepIds(): Iterable<string>;
}

/** What else a formula can see. The same surroundings give the same value, on any machine, at any time. */
export interface Surroundings {
  /** For `$now()`, `$millis()`: epoch milliseconds. */
  readonly now: number;
  /** For `$random()`, `$shuffle()`: a number from 0 (included) to 1 (excluded). See `seededRandom`. */
  readonly random: () => number;
}
