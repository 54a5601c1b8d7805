import type { Verb } from '../definition/index.js';
import type { MappingEntry, MappingNode, ScalarNode, SyntaxNode, TextNode } from '../syntax/index.js';

/** An item of the file, as far as it could be made out: the checks also run on files with mistakes. */
export interface FlowItem {
  readonly node: MappingNode;
  readonly verb: Verb;
  readonly id?: TextNode;
  /** Of a `step`. */
  readonly handler?: string;
  readonly root: FlowRoot;
  /** What is around the item, the outermost first. */
  readonly within: readonly Enclosure[];
  /** What has a value in its fields. */
  readonly variables: Variables;
  /** The list in which it stands, and where in it. */
  readonly siblings: readonly FlowItem[];
  readonly index: number;
  readonly when?: Condition | undefined;
  /** Of a `doWhile` or `doUntil`. */
  readonly condition?: Condition | undefined;
  /** The lists inside its verb: a body, the arms of a `branch`, the branches of a `parallel`. */
  readonly bodies: readonly Enclosure[];
  /** The entries of its `onError`. */
  readonly handlers: readonly Enclosure[];
}

/** Which of the lists of a workflow something stands in; `output` stands at the end of `steps`. */
export type FlowRoot = 'steps' | 'onFailure' | 'finally';

/**
 * A list inside an item.
 * - `turn`: the body of `doWhile` or `doUntil`; their conditions see what it sees
 * - `element`: the body of a `forEach`
 * - `branch`, `arm`, `handler`: one of a `parallel`, a `branch`, an `onError`
 * - `part`: a `group`'s list
 */
export interface Enclosure {
  readonly item: FlowItem;
  readonly kind: 'turn' | 'element' | 'branch' | 'arm' | 'handler' | 'part';
  /** Of a branch its name, of an arm or a handler its number from 0. */
  readonly name: string;
  /** The arm or the entry; of other bodies the list. */
  readonly node: SyntaxNode;
  /** Of an arm (its `else` has none) or a handler. */
  readonly when?: Condition | undefined;
  readonly items: readonly FlowItem[];
}

/** Decides whether something runs. Its text is a formula, or plain YAML says it. */
export interface Condition {
  readonly node: ScalarNode;
  readonly formula?: FormulaUse;
  readonly literal?: boolean;
}

/**
 * Where a formula is evaluated.
 * - `when`: before the item, to decide whether it runs
 * - `field`: when the item starts (its compensation and reminders see the same `$steps`)
 * - `choice`: before the arm or handler, to decide whether it is taken
 * - `turn`: before each turn of a `doWhile`, after each of a `doUntil`
 * - `end`: after the last of `steps`
 * - `policy`: for each step whose failures it judges; `name` is that of a named policy, absent for `defaults`
 */
export type Standing =
  | { readonly kind: 'when' | 'field' | 'turn'; readonly item: FlowItem }
  | { readonly kind: 'choice'; readonly enclosure: Enclosure }
  | { readonly kind: 'end' }
  | { readonly kind: 'policy'; readonly name?: string };

/** What a formula at its place may read. */
export interface Place {
  readonly standing: Standing;
  /** What is around it, the outermost first. */
  readonly within: readonly Enclosure[];
  readonly variables: Variables;
}

/** What has a value at a place, by its name without `$`. */
export type Variables = ReadonlyMap<string, Binding>;

/**
 * What gives a variable its value.
 * - `language`: it has one everywhere
 * - `element`: the list of a `forEach`
 * - `number`: turns of a loop, reminders
 * - `signal`: the message that a `waitFor` has to judge
 * - `result`: the step that a compensation undoes
 * - `error`: a failure; `mayLack` where there may have been none
 */
export type Binding =
  | { readonly kind: 'language' | 'number' }
  | { readonly kind: 'element' | 'signal' | 'result'; readonly item: FlowItem }
  | { readonly kind: 'error'; readonly mayLack: boolean };

/**
 * What becomes of a formula's value: a condition needs true or false, a `list` may be absent where it is no plain path,
 * a `time` is an `until`.
 */
export type FormulaRoleInFlow = 'condition' | 'filter' | 'list' | 'time' | 'value';

/** A formula of the file. */
export interface FormulaUse {
  readonly node: TextNode;
  /** Its text with the `=`, if it has one. */
  readonly text: string;
  readonly use: FormulaRoleInFlow;
  readonly place: Place;
}

/** A handler or a workflow that is called. */
export interface CallUse {
  readonly kind: 'handler' | 'child';
  readonly name: TextNode;
  /** Of a child. */
  readonly revision?: number;
  /** Its `with`. */
  readonly arguments?: MappingEntry;
  readonly place: Place;
}

/** A name that is written out: an id, the name of a retry policy. */
export interface NameUse {
  readonly node: ScalarNode;
  readonly name: string;
}

/** A retry policy by name; `item` is absent in `defaults`. */
export interface PolicyUse extends NameUse {
  readonly item?: FlowItem;
  /** Whether it is the item's compensation that uses it. */
  readonly ofCompensation?: boolean;
}

export interface FlowModel {
  /** All items, each before those inside it. */
  readonly items: readonly FlowItem[];
  readonly roots: Readonly<Record<FlowRoot, readonly FlowItem[]>>;
  readonly formulas: readonly FormulaUse[];
  readonly conditions: readonly Condition[];
  readonly calls: readonly CallUse[];
  readonly policies: readonly PolicyUse[];
  /** All ids in the order of the file, those of reminders too. */
  readonly ids: readonly NameUse[];
  /** Ids of reminders: they are unique like others, but give no output to read. */
  readonly reminders: ReadonlySet<string>;
  /** Names inside items that could not be made out. They exist, but nothing is known of their place. */
  readonly unplaced: ReadonlySet<string>;
  /** The `as` of each `forEach`, with the names of those around it. */
  readonly loopNames: readonly (NameUse & { readonly outer: readonly string[] })[];
}
