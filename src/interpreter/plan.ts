import type { JsonObject } from '../common/index.js';
import type { Definition, SecretReference } from '../definition/index.js';
import type { Formula, Template } from '../expression/index.js';
import type { Path } from '../syntax/index.js';

/** A definition made ready to be walked: names resolved, formulas compiled, durations in milliseconds. */
export interface Plan {
  readonly definition: Definition;
  readonly constants: JsonObject;
  readonly steps: Body;
  readonly onFailure: Body;
  readonly finally: Body;
  readonly output: Placed<Template> | undefined;
  readonly timeoutMs: number | undefined;
}

/** Something compiled, with its path in the document, for messages. */
export interface Placed<T> {
  readonly what: T;
  readonly path: Path;
}

/** A list of items: the body of a run, a branch, a turn, a group. */
export type Body = readonly Item[];

export type Item =
  | StepItem
  | SetItem
  | GroupItem
  | BranchItem
  | ParallelItem
  | ForEachItem
  | LoopItem
  | WaitForItem
  | SleepItem
  | SubWorkflowItem
  | PivotItem
  | CompleteItem
  | FailItem
  | RethrowItem;

interface ItemBase {
  /** Unique in the file: the id, or `mail.send@3.0`. */
  readonly key: string;
  /** The name under which `$steps` knows it, if any. */
  readonly name: string | undefined;
  readonly when: Placed<Formula> | undefined;
  readonly onError: readonly ErrorEntry[];
  /** Deadline of a whole block (not of a step: there it is that of one attempt). */
  readonly blockTimeoutMs: number | undefined;
}

export interface ErrorEntry {
  /** Names it handles; undefined or `*` is any. */
  readonly errors: readonly string[] | undefined;
  readonly when: Placed<Formula> | undefined;
  readonly body: Body;
}

export interface StepItem extends ItemBase, Call {
  readonly verb: 'step';
  readonly compensate: Reversal | undefined;
}

/** How a handler is called, forwards or backwards. */
export interface Call {
  readonly handler: string;
  readonly input: Placed<Template> | undefined;
  /** Where in the input the flow refers to a secret: the only locations that are ever resolved. */
  readonly secrets: readonly SecretReference[];
  /** Limit of one attempt; undefined is `never`. */
  readonly timeoutMs: number | undefined;
  readonly retry: RetryPolicy;
}

export interface Reversal extends Call {
  /** Errors of the forward step that prove that it had no effect. */
  readonly exceptErrors: readonly string[];
}

export interface RetryPolicy {
  /** Tries, the first included. */
  readonly attempts: number;
  readonly delayMs: number;
  readonly backoff: 'constant' | 'linear' | 'exponential';
  readonly maxDelayMs: number;
  readonly jitter: boolean;
  /** From the first start of the occurrence, parked time included. */
  readonly maxDurationMs: number | undefined;
  readonly errors: readonly string[] | undefined;
  readonly exceptErrors: readonly string[] | undefined;
  readonly when: Placed<Formula> | undefined;
}

export interface SetItem extends ItemBase {
  readonly verb: 'set';
  readonly value: Placed<Template>;
}

export interface GroupItem extends ItemBase {
  readonly verb: 'group';
  readonly body: Body;
}

export interface BranchItem extends ItemBase {
  readonly verb: 'branch';
  /** The last arm, `else`, has no condition. */
  readonly arms: readonly { readonly when: Placed<Formula> | undefined; readonly body: Body }[];
}

export interface ParallelItem extends ItemBase {
  readonly verb: 'parallel';
  /** In code-point order of their names: the hash ignores the order of keys, so the run must too. */
  readonly branches: readonly { readonly name: string; readonly body: Body }[];
  /** How many branches must complete. */
  readonly join: 'all' | number;
  readonly onBranchError: 'abort' | 'wait';
}

export interface ForEachItem extends ItemBase {
  readonly verb: 'forEach';
  readonly list: ({ readonly kind: 'formula' } & Placed<Formula>) | ({ readonly kind: 'literal' } & Placed<Template>);
  readonly as: string;
  readonly concurrency: number;
  readonly maxIterations: number;
  readonly onItemError: 'stop' | 'continue';
  readonly body: Body;
}

export interface LoopItem extends ItemBase {
  readonly verb: 'doWhile' | 'doUntil';
  readonly condition: Placed<Formula>;
  readonly maxIterations: number;
  readonly body: Body;
  /** What `$steps` knows of the body, at any depth: cleared when the loop is entered. */
  readonly names: readonly string[];
}

export interface SleepItem extends ItemBase {
  readonly verb: 'sleep';
  readonly duration: { readonly kind: 'for'; readonly ms: number } | ({ readonly kind: 'until' } & Placed<Formula>);
}

export interface WaitForItem extends ItemBase {
  readonly verb: 'waitFor';
  readonly signal: string;
  readonly timeout:
    { readonly kind: 'for'; readonly ms: number } | ({ readonly kind: 'until' } & Placed<Formula>) | 'never';
  /** What it gives instead of failing when nobody answers in time. */
  readonly onTimeout: Placed<Template> | undefined;
  readonly filter: Placed<Formula> | undefined;
  readonly remind: Reminder | undefined;
}

export interface Reminder extends Call {
  readonly key: string;
  readonly everyMs: number;
}

export interface SubWorkflowItem extends ItemBase {
  readonly verb: 'subWorkflow';
  readonly workflow: string;
  readonly input: Placed<Template> | undefined;
  /** Undefined is the newest that is registered when the child starts. */
  readonly revision: number | undefined;
  readonly timeoutMs: number | undefined;
}

export interface PivotItem extends ItemBase {
  readonly verb: 'pivot';
}

export interface CompleteItem extends ItemBase {
  readonly verb: 'complete';
  readonly value: Placed<Template>;
}

export interface FailItem extends ItemBase {
  readonly verb: 'fail';
  readonly error: string;
  readonly message: Placed<Template> | undefined;
  readonly details: Placed<Template> | undefined;
}

export interface RethrowItem extends ItemBase {
  readonly verb: 'rethrow';
}
