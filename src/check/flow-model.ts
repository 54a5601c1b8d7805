import type { Verb } from '../definition/index.js';
import type { MappingNode, ScalarNode } from '../syntax/index.js';

/** An item of the file, as far as it could be made out: the checks also run on files with mistakes. */
export interface FlowItem {
  readonly node: MappingNode;
  readonly verb: Verb;
  readonly id?: ScalarNode & { readonly value: string };
  /** Of a `step`. */
  readonly handler?: string;
  /** What is around the item, the outermost first. */
  readonly within: readonly Enclosure[];
  /** Places in the order in which a run meets them; an item is over after all that is inside it. */
  readonly enters: number;
  leaves: number;
}

/**
 * One step inwards from an item to a place inside it.
 * - `turn`: a body or condition of `doWhile` or `doUntil`
 * - `element`: the body of a `forEach`
 * - `branch`, `arm`, `handler`: which one of a `parallel`, a `branch`, an `onError`
 * - `part`: a `group`'s list
 */
export interface Enclosure {
  readonly item: FlowItem;
  readonly kind: 'turn' | 'element' | 'branch' | 'arm' | 'handler' | 'part';
  readonly name: string;
}

/** Where a formula stands: what it may read. */
export interface Place {
  /** Comparable with `enters` and `leaves`; undefined where it stands outside the order (a named retry policy). */
  readonly position: number | undefined;
  readonly within: readonly Enclosure[];
  /** Names of the variables that have a value here, without `$`. */
  readonly variables: ReadonlySet<string>;
}

/** A formula of the file. */
export interface FormulaUse {
  readonly node: ScalarNode;
  /** Its text with the `=`, if it has one. */
  readonly text: string;
  readonly place: Place;
}

/** A name that is written out: of a handler, of a retry policy. */
export interface NameUse {
  readonly node: ScalarNode;
  readonly name: string;
}

export interface FlowModel {
  readonly items: readonly FlowItem[];
  readonly formulas: readonly FormulaUse[];
  readonly handlers: readonly NameUse[];
  readonly policies: readonly NameUse[];
  /** All ids in the order of the file, those of reminders too. */
  readonly ids: readonly NameUse[];
  /** Ids of reminders: they are unique like others, but give no output to read. */
  readonly reminders: ReadonlySet<string>;
  /** Names inside items that could not be made out. They exist, but nothing is known of their place. */
  readonly unplaced: ReadonlySet<string>;
  /** The `as` of each `forEach`, with the names of those around it. */
  readonly loopNames: readonly (NameUse & { readonly outer: readonly string[] })[];
}
