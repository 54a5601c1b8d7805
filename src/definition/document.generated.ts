// Generated from schemas/workflow.schema.json by `npm run generate`. Do not edit.
import type {JsonObject, JsonValue} from '../common/index.js';

/**
 * A JSON Schema (2020-12); `optional: true` allows the field to be left out.
 */
export type FieldSchema = JsonObject | boolean;
export type Value = JsonValue;
/**
 * How failed attempts are repeated: a policy, or the name of one in `retryPolicies`. Default: 3 attempts, 1s, exponential, at most 30s. A policy replaces the one it overrides; nothing is merged.
 */
export type Retry = Name | RetryPolicy;
export type Name = string;
export type ScheduleEntry = CronSchedule | IntervalSchedule;
/**
 * One item of a list. It has exactly one verb: `step`, `set`, `group`, `branch`, `parallel`, `forEach`, `doWhile`, `doUntil`, `waitFor`, `sleep`, `subWorkflow`, `pivot`, `complete`, `fail` or `rethrow`.
 */
export type Item =
  | StepItem
  | SetItem
  | GroupItem
  | BranchItem
  | ParallelItem
  | ForEachItem
  | DoWhileItem
  | DoUntilItem
  | WaitForItem
  | SleepItem
  | SubWorkflowItem
  | PivotItem
  | CompleteItem
  | FailItem
  | RethrowItem;
export type Items = Item[];
/**
 * Name of this item, unique in the file: letters, digits and `_`. Its output is read as `$steps.<id>`.
 */
export type Id = string;
/**
 * What this item is for. Not part of the workflow's identity.
 */
export type Description = string;
/**
 * The item is skipped unless this formula gives true.
 */
export type When = Condition;
/**
 * Field → value. Texts beginning with `=` are formulas (`=$input.total`); in a step `{ $secret: NAME }` stands for a secret.
 */
export type Arguments = JsonObject | string;
/**
 * Entries `{ errors, when, do }`, tried in order; the first one that fits handles the error, and its last output becomes the item's.
 */
export type OnError = OnErrorEntry[];
/**
 * How long the block may take; past it, it fails with `Timeout`.
 */
export type BlockLimit = Limit;
export type Arm = WhenArm | ElseArm;
export type Count = number;
/**
 * One turn more is the error `LoopLimitExceeded`. Default: 100.
 */
export type LoopCap = Count;
/**
 * `500ms`, `30s`, `15m`, `2h30m`, `14d`, ISO 8601 (`PT2H30M`), or `never`.
 */
export type Limit = string;
/**
 * `500ms`, `30s`, `15m`, `2h30m`, `14d`, or ISO 8601 (`PT2H30M`).
 */
export type Duration = string;
/**
 * Default: its place in the list.
 */
export type ScheduleId = Name;
/**
 * Input of the runs that this schedule starts; literal.
 */
export type ScheduleInput = Value;
/**
 * `skip` (default): no run this time. `queue`: at most one waits. `allow`: runs side by side.
 */
export type Overlap = 'skip' | 'queue' | 'allow';
/**
 * A formula that gives true or false; its `=` may be left out.
 */
export type Condition = string | boolean;
export type Identifier = string;
export type Note = string | null;
/**
 * @minItems 1
 */
export type ErrorNames = string[];
/**
 * @minItems 1
 */
export type CatchableErrorNames = string[];
/**
 * A JSON Schema (2020-12).
 */
export type JsonSchema = JsonObject | boolean;

/**
 * A durable workflow: its input, its steps in the order in which they run, and its result.
 */
export interface WorkflowDocument {
  /**
   * Where the editor finds the schema of workflow files. Not part of the workflow.
   */
  $schema?: string;
  /**
   * Name of the workflow: letters, digits, `_`, `.`, `-`, beginning with a letter.
   */
  workflow: string;
  /**
   * Whole number, default 1. Raise it when a handler or a condition behaves differently while this file stays the same.
   */
  revision?: number;
  /**
   * What the workflow is for. Not part of its identity.
   */
  description?: string;
  /**
   * Names and texts about the flow, for people and for tools that read flow files. Not part of its identity.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * The fields of the input, each with its JSON Schema. A field is required unless it has a `default` or `optional: true`; fields not listed here are refused. Read as `$input.<field>`.
   */
  input?: {
    [k: string]: FieldSchema;
  };
  /**
   * Instead of `input`: one whole JSON Schema of the input.
   */
  inputSchema?: JsonSchema;
  /**
   * Literal values, read as `$constants.<name>`.
   */
  constants?: {
    [k: string]: Value;
  };
  /**
   * How long a run may take, from its first start. Default: `never`.
   */
  timeout?: Limit;
  /**
   * At most this many runs of this workflow run at once, over all engines that share the storage.
   */
  concurrency?: Count;
  defaults?: Defaults;
  /**
   * Named retry policies; `retry: gateway` picks the one called `gateway`.
   */
  retryPolicies?: {
    [k: string]: RetryPolicy;
  };
  /**
   * When runs start by themselves.
   */
  schedule?: ScheduleEntry[];
  /**
   * What the workflow does, in the order in which it is done.
   */
  steps: Items;
  /**
   * Steps that run once the run has failed and what it had done is undone. `$error` says why it failed.
   */
  onFailure?: Items;
  /**
   * Steps that run last, whatever the outcome, cancellation included.
   */
  finally?: Items;
  /**
   * The result of the run. Default: the output of the last step that gave one.
   */
  output?: Value;
}
/**
 * `retry` and `timeout` for every `step` of the file that does not state its own. Not for compensations.
 */
export interface Defaults {
  retry?: Retry;
  /**
   * For every `step` without a `timeout` of its own.
   */
  timeout?: Limit;
}
export interface RetryPolicy {
  /**
   * Number of tries, the first included: 1 is no retry. Default: 3.
   */
  attempts?: Count;
  /**
   * Time before the second try. Default: 1s.
   */
  delay?: Duration;
  /**
   * How the delay grows from try to try; `exponential` (default) doubles it.
   */
  backoff?: 'constant' | 'linear' | 'exponential';
  /**
   * Default: 30s, or `delay` where that is longer.
   */
  maxDelay?: Duration;
  /**
   * Spreads the delay evenly between half and the whole of it, so that many runs do not retry at once. Default: true.
   */
  jitter?: boolean;
  /**
   * No retry begins later than this after the first start.
   */
  maxDuration?: Duration;
  /**
   * Only these errors are retried.
   */
  errors?: CatchableErrorNames;
  /**
   * These errors are not retried.
   */
  exceptErrors?: CatchableErrorNames;
  /**
   * Condition over `$error` that must hold for a retry.
   */
  when?: Condition;
}
export interface StepItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Name of the handler to call, written out (`payments.charge`). Its return value is the output.
   */
  step: Name;
  with?: Arguments;
  /**
   * How long one attempt may take: `20s`, `15m`, `never`. Default: 5m.
   */
  timeout?: Limit;
  retry?: Retry;
  compensate?: Compensation;
  onError?: OnError;
}
/**
 * The handler that undoes this step when the run fails later on. `$result` is what the step returned, null where it failed or its outcome is unknown.
 */
export interface Compensation {
  /**
   * Name of the handler that undoes the step.
   */
  step: Name;
  with?: Arguments;
  retry?: Retry;
  /**
   * Default: 5m. Not `never`.
   */
  timeout?: Duration;
  /**
   * Errors of the step that prove it had no effect, so that there is nothing to undo.
   */
  exceptErrors?: ErrorNames;
}
export interface OnErrorEntry {
  /**
   * Names of the errors that this entry handles; `*` or none at all is any error.
   */
  errors?: CatchableErrorNames;
  /**
   * Condition over `$error` that must hold too.
   */
  when?: Condition;
  /**
   * Items that run instead; `rethrow` lets the error go on.
   */
  do: Items;
}
export interface SetItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A value or a map of values; texts beginning with `=` are formulas. Read later as `$steps.<id>`.
   */
  set: Value;
  onError?: OnError;
}
export interface GroupItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Gives several items one `when`, `onError` or `timeout`. Its output is the last output inside.
   */
  group: Items;
  timeout?: BlockLimit;
  onError?: OnError;
}
export interface BranchItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Arms `{ when, do }`, tried in order; the first whose condition is true is taken. The last arm is `else: […]`, which may be empty. For a single arm write `when` with `group`.
   */
  branch: Arm[];
  onError?: OnError;
}
export interface WhenArm {
  /**
   * This arm is taken if the formula gives true and no arm before it was taken.
   */
  when: Condition;
  /**
   * The items of this arm.
   */
  do: Items;
  /**
   * Shown to people instead of the arm's number.
   */
  name?: string;
}
export interface ElseArm {
  /**
   * What is done when no condition was true; `[]` for nothing.
   */
  else: Items;
}
export interface ParallelItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A map of branch name → list of items. The output is a map of branch name → last output.
   */
  parallel: {
    [k: string]: Items;
  };
  /**
   * `all` (default), `any` (the first one that succeeds) or a number of branches; the others are then cancelled.
   */
  join?: ('all' | 'any') | Count;
  /**
   * With `join: all`: `abort` (default) stops the other branches at the first failure, `wait` lets them end. The item fails either way.
   */
  onBranchError?: 'abort' | 'wait';
  timeout?: BlockLimit;
  onError?: OnError;
}
export interface ForEachItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A formula that gives a list (`=$input.items`), or a list. The output is the list of the turns' outputs, in order.
   */
  forEach: string | Value[];
  /**
   * The element is read as `$<as>` inside `do`. Default: `item`, so `$item`.
   */
  as?: Identifier;
  /**
   * How many turns run at once. Default: 1.
   */
  concurrency?: Count;
  /**
   * A longer list is the error `LoopLimitExceeded` before the first turn. Default: 1000.
   */
  maxIterations?: Count;
  /**
   * `stop` (default): the item fails. `continue`: the failed turn's entry in the list is `{ error }`.
   */
  onItemError?: 'stop' | 'continue';
  /**
   * The items of each turn; `$index` is its number, from 0.
   */
  do: Items;
  timeout?: BlockLimit;
  onError?: OnError;
}
export interface DoWhileItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Condition checked before each turn; `$iteration` is the number of turns completed so far.
   */
  doWhile: Condition;
  maxIterations?: LoopCap;
  /**
   * The items of each turn; `$iteration` is its number, from 0.
   */
  do: Items;
  timeout?: BlockLimit;
  onError?: OnError;
}
export interface DoUntilItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Condition checked after each turn; `$iteration` is the number of turns completed so far.
   */
  doUntil: Condition;
  maxIterations?: LoopCap;
  /**
   * The items of each turn; `$iteration` is its number, from 0.
   */
  do: Items;
  timeout?: BlockLimit;
  onError?: OnError;
}
export interface WaitForItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Name of the signal, written out. The output is its payload.
   */
  waitFor: Name;
  /**
   * JSON Schema that a payload must fit to be accepted.
   */
  schema?: JsonSchema;
  /**
   * Condition over `$signal`, the payload. Signals for which it is not true stay where they are.
   */
  filter?: Condition;
  /**
   * Compulsory: a duration (`48h`), `{ until: … }`, or `never`. Past it the item fails with `WaitTimeout`, unless there is `onTimeout`.
   */
  timeout: Limit | Until;
  /**
   * The value used as the payload when the time is up.
   */
  onTimeout?: Value;
  remind?: Reminder;
  onError?: OnError;
}
export interface Until {
  /**
   * Formula that gives an ISO timestamp with offset, or milliseconds since 1970.
   */
  until: string;
}
/**
 * A handler that is called at each interval until the signal is there. `$iteration` counts from 0.
 */
export interface Reminder {
  id?: Id;
  /**
   * Time between reminders; the first is due one interval after the wait began.
   */
  every: Duration;
  /**
   * Name of the handler to call.
   */
  step: Name;
  with?: Arguments;
}
export interface SleepItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A duration (`6h`, `2h30m`) or `{ until: … }`.
   */
  sleep: Duration | Until;
  onError?: OnError;
}
export interface SubWorkflowItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Name of the workflow, written out. It runs as a child; its output is this item's.
   */
  subWorkflow: string;
  with?: Arguments;
  /**
   * Default: the newest that is registered when the child starts.
   */
  revision?: Count;
  /**
   * Default: `never`.
   */
  timeout?: Limit;
  onError?: OnError;
}
export interface PivotItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A note. Once this is reached nothing of the run is compensated any more, what came before it included.
   */
  pivot: Note;
  onError?: OnError;
}
export interface CompleteItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * The run completes now, with this output. Not inside `parallel` or `forEach`.
   */
  complete: Value;
  onError?: OnError;
}
export interface FailItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * Name of the error, as `onError` elsewhere names it.
   */
  fail: Name;
  /**
   * What went wrong, for people; text or a formula.
   */
  message?: string;
  /**
   * Data that goes with the error, read as `$error.details`.
   */
  details?: Value;
  onError?: OnError;
}
export interface RethrowItem {
  id?: Id;
  description?: Description;
  when?: When;
  /**
   * A note. Only in `onError`: the error goes on as it was.
   */
  rethrow: Note;
  onError?: OnError;
}
export interface CronSchedule {
  id?: ScheduleId;
  /**
   * Five fields: minute, hour, day of the month, month, day of the week. `0 7 * * MON-FRI` is seven o'clock on working days.
   */
  cron: string;
  /**
   * `UTC` or a region such as `Europe/Berlin`.
   */
  timezone: string;
  input?: ScheduleInput;
  overlap?: Overlap;
}
export interface IntervalSchedule {
  id?: ScheduleId;
  /**
   * Time between starts.
   */
  every: Duration;
  input?: ScheduleInput;
  overlap?: Overlap;
}
