// Generated from schemas/flow-test.schema.json by `npm run generate`. Do not edit.
import type {JsonValue} from '../../common/index.js';

/**
 * When the run starts, in virtual time: `2030-01-01T09:00:00Z`, with `Z` or an offset. Default: 2030-01-01T00:00:00Z.
 */
export type Now = string;
/**
 * Input of the run. The fields of a test are merged over those of the defaults, field by field at the top level.
 */
export type Input = Value;
/**
 * By name of the handler, how it answers when the flow calls it; `real` lets the registered one run. A handler that is called and not in here fails the test.
 */
export type Handlers = 'real' | {[handler: string]: Script};
/**
 * By name of the child workflow, how it answers instead of being run. Children that are not in here are run.
 */
export type Children = {[workflow: string]: Script};
/**
 * A signal, and when it is sent.
 */
export type Signal = SignalAt | SignalAfter;
/**
 * Signals that are sent to the run while it goes on.
 */
export type Signals = Signal[];
/**
 * Where the process dies; the run is then recovered. `every`: the test is repeated with a crash after each entry of its journal in turn.
 */
export type Crash = 'every' | CrashPoint[];
/**
 * The run is cancelled.
 */
export type Cancel = CancelAt | CancelAfter;
/**
 * When, since the start of the run, in virtual time: `14h`; `0s` is at once.
 */
export type At = Duration;
/**
 * The resumption must be refused, with this error.
 */
export type ResumeRefusal = 'RunNotResumable';
/**
 * The decision must be refused, with this error.
 */
export type DecisionRefusal = 'RunNotStuck' | 'RunEnded';
/**
 * What an operator decides where something could not be undone, as by `runsheet compensation`.
 *
 * @minItems 1
 */
export type Compensation = Decision[];
/**
 * What must be so at the end. Without a `status` the run must have completed.
 */
export type Expect = ExpectedRun | ExpectedRefusal;
/**
 * One answer for every call, or a list: one entry a call, the last one repeats. `real` lets the registered handler (or the child workflow) run.
 */
export type Script = 'real' | Reply | Reply[];
/**
 * What one call gives. `{}` is a handler that returns nothing.
 */
export type Reply = ThrowingReply | ReturningReply;
/**
 * A formula over `$input`, the resolved `with` of the call. Entries with `when` are looked at first, the first that fits answers, and they are never used up.
 */
export type ReplyWhen = string | boolean;
/**
 * Virtual time that the call takes: `3s`, `2h`. The `timeout` of the step counts.
 */
export type Takes = Duration;
/**
 * The signal must be refused, with this error.
 */
export type SignalRefusal =
  'UnknownSignal' | 'ValidationError' | 'SignalAlreadyDelivered' | 'SignalTooLate' | 'RunEnded';
/**
 * Id of the item after whose end it happens; a turn of a loop is `pick#2`, counted from 0.
 */
export type After = Turn;
/**
 * One death of the process: `after` an item has ended, `during` it, or `at` a time.
 */
export type CrashPoint = CrashAfter | CrashDuring | CrashAt;
/**
 * For so long nobody drives the run; then another process takes it over. Default: at once.
 */
export type Down = Duration;
/**
 * `false`: what was done stays done. Default: it is undone.
 */
export type Compensate = boolean;
/**
 * The cancellation must be refused, with this error.
 */
export type CancelRefusal = 'RunAlreadyEnding' | 'RunEnded';
/**
 * Letters, digits, `_`, `.`, `-`.
 */
export type Name = string;
/**
 * Id of an item; a turn of a loop is `pick#2`, counted from 0.
 */
export type Turn = string;
export type Value = JsonValue;
export type ExpectedChild = ExpectedRun;
/**
 * Id of an item; a turn of a loop is `pick#2`, counted from 0; a compensation is `charge:compensate`.
 */
export type Place = string;
/**
 * `500ms`, `30s`, `15m`, `2h30m`, `14d`, or ISO 8601 (`PT2H30M`).
 */
export type Duration = string;
/**
 * Letters, digits, `_`, `.`, `-`, beginning with a letter.
 */
export type WorkflowName = string;
/**
 * Id of the step that starts a child, an iteration of it `book#2`, a child of that one `book#2/print`, or the child workflow.
 */
export type Receiver = string;

/**
 * Tests of one flow: handlers answered by a script, signals at virtual times, crashes at will, and what is expected.
 */
export interface FlowTestDocument {
  /**
   * Where the editor finds the schema of flow tests.
   */
  $schema?: string;
  /**
   * A path from this file (`./order-fulfilment.yaml`), or the name of a workflow beside this file or in the definitions folder.
   */
  workflow: string;
  now?: Now;
  defaults?: TestDefaults;
  /**
   * One entry for each thing that is to be shown.
   *
   * @minItems 1
   */
  tests: Test[];
}
/**
 * What all tests of the file share. Of `input`, `handlers`, `children` and `secrets` a test replaces single fields; anything else it replaces whole.
 */
export interface TestDefaults {
  now?: Now;
  input?: Input;
  handlers?: Handlers;
  children?: Children;
  signals?: Signals;
  crash?: Crash;
  cancel?: Cancel;
  resume?: Resume;
  compensation?: Compensation;
  secrets?: Secrets;
}
/**
 * The failed run is resumed. State and output are then those of the new run; everything else counts both.
 */
export interface Resume {
  at: At;
  refused?: ResumeRefusal;
}
/**
 * What is decided about an undoing that is stuck, and when.
 */
export interface Decision {
  at: At;
  /**
   * `resume`: what failed is tried again, then the rest is undone. `abandon`: the rest stays as it is, and the run ends.
   */
  decide: 'resume' | 'abandon';
  refused?: DecisionRefusal;
}
/**
 * By name, the secrets that `{ $secret: NAME }` stands for.
 */
export interface Secrets {
  [k: string]: string;
}
/**
 * One run of the flow, and what is expected of it.
 */
export interface Test {
  /**
   * What is to be shown, in words; unique in the file.
   */
  name: string;
  now?: Now;
  input?: Input;
  handlers?: Handlers;
  children?: Children;
  signals?: Signals;
  crash?: Crash;
  cancel?: Cancel;
  resume?: Resume;
  compensation?: Compensation;
  secrets?: Secrets;
  /**
   * Defaults that do not hold for this test: `crash`, `cancel`, or a single `input.total`, `handlers.mail.send`, `children.book`, `secrets.TOKEN`.
   *
   * @minItems 1
   */
  without?: string[];
  expect?: Expect;
}
export interface ThrowingReply {
  when?: ReplyWhen;
  takes?: Takes;
  throws: Throws;
}
/**
 * The call fails with this error.
 */
export interface Throws {
  /**
   * What `errors` in `retry` and `onError` see.
   */
  name: Name;
  /**
   * Read as `$error.message`. Default: the name.
   */
  message?: string;
  /**
   * The `code` of the error; it takes the place of a name that is only `Error`.
   */
  code?: string;
  /**
   * Read as `$error.details`.
   */
  details?: Value;
  /**
   * The handler says for certain that nothing was done, so that nothing has to be undone.
   */
  noEffect?: boolean;
  /**
   * The handler says that no other try can help; no retry policy overrides it.
   */
  nonRetryable?: boolean;
}
export interface ReturningReply {
  when?: ReplyWhen;
  takes?: Takes;
  /**
   * What the call gives back, literal.
   */
  returns?: Value;
  /**
   * Instead of `returns`: the call fails with this error.
   */
  throws?: never;
}
export interface SignalAt {
  at: At;
  /**
   * Instead of `at`: the id of the item after whose end it is sent.
   */
  after?: never;
  /**
   * Name of the signal, as in `waitFor`.
   */
  name: Name;
  /**
   * What is sent. Default: null.
   */
  payload?: Value;
  /**
   * The child that is sent the signal, instead of the run under test: the id of its step (`book`, an iteration `book#2`), or its workflow where only one of them is under way.
   */
  to?: Receiver;
  refused?: SignalRefusal;
}
export interface SignalAfter {
  after: After;
  /**
   * Name of the signal, as in `waitFor`.
   */
  name: Name;
  /**
   * What is sent. Default: null.
   */
  payload?: Value;
  /**
   * The child that is sent the signal, instead of the run under test: the id of its step (`book`, an iteration `book#2`), or its workflow where only one of them is under way.
   */
  to?: Receiver;
  refused?: SignalRefusal;
}
export interface CrashAfter {
  /**
   * The process dies when this item has ended: `charge`, a turn `pick#2`, a compensation `charge:compensate`.
   */
  after: Place;
  down?: Down;
}
export interface CrashDuring {
  /**
   * The process dies while this item is under way: a step's handler is working, a gate waits, a sleep sleeps, a child or the items inside have begun. `charge`, an iteration `pick#2`, a compensation `charge:compensate`.
   */
  during: Place;
  /**
   * Instead of `during`: the process dies when this item has ended.
   */
  after?: never;
  down?: Down;
  /**
   * Instead of `during`: the process dies at this time since the start.
   */
  at?: never;
}
export interface CrashAt {
  at: At;
  down?: Down;
}
export interface CancelAt {
  at: At;
  /**
   * Instead of `at`: the id of the item after whose end the run is cancelled.
   */
  after?: never;
  compensate?: Compensate;
  refused?: CancelRefusal;
}
export interface CancelAfter {
  after: After;
  compensate?: Compensate;
  refused?: CancelRefusal;
}
export interface ExpectedRefusal {
  /**
   * The start itself must be refused, with this error; nothing else is expected then.
   */
  refused: 'ValidationError';
}
export interface ExpectedRun {
  /**
   * How the run must end, or what it must be doing once nothing more happens to it. Default: `completed`.
   */
  status?: 'completed' | 'failed' | 'cancelled' | 'waiting' | 'sleeping' | 'retrying' | 'compensation-stuck';
  error?: ExpectedError;
  /**
   * How the undoing must have ended.
   */
  rollback?: 'not-applicable' | 'completed' | 'partial' | 'stuck' | 'abandoned' | 'owed';
  /**
   * Ids of items that must have run, in this order of start, once per turn (`pick`, or one turn `pick#2`); others may run as well.
   */
  ran?: Turn[];
  /**
   * Instead of `ran`: ids of all items with an id that must have run, in order of start.
   */
  exactly?: Turn[];
  /**
   * Ids of items that must not have run.
   */
  notRan?: Turn[];
  /**
   * Ids of the items that must have been undone, all of them, in order of undoing.
   */
  compensated?: Turn[];
  /**
   * By name of the handler, how often it must have been called, interrupted calls included.
   */
  calls?: {
    [k: string]: number;
  };
  /**
   * By place (`charge`, `pick#2`, `charge:compensate`), the resolved `with`: these fields must have these values. A list for the turns of a loop. Secrets are shown as their references.
   */
  inputs?: {
    [k: string]: Value;
  };
  /**
   * Virtual time that must have gone by: `2h` is at least so much, `{ exactly: 2h }`, `{ atLeast: 1h, atMost: 2h }`.
   */
  elapsed?: string | ExpectedElapsed;
  /**
   * Exactly the output of the run.
   */
  output?: Value;
  /**
   * Instead of `output`: a formula over `$output` that must hold.
   */
  outputMatches?: string | boolean;
  /**
   * What must be so of children: by the id of the step (`book`, an iteration `book#2`), or by workflow where there is only one, the same as of the run.
   */
  children?: {
    [k: string]: ExpectedChild;
  };
  /**
   * `ValidationError`: the start itself must be refused; nothing else is expected then.
   */
  refused?: never;
}
/**
 * The error that the run failed with: what stands here must be so, what does not is not looked at.
 */
export interface ExpectedError {
  name?: Name;
  /**
   * The whole message of the error.
   */
  message?: string;
  /**
   * Id of the item that failed.
   */
  step?: string;
  /**
   * The attempt that failed.
   */
  attempt?: number;
  /**
   * These fields must have these values.
   */
  details?: Value;
}
export interface ExpectedElapsed {
  /**
   * So much virtual time, at least, must have gone by.
   */
  atLeast?: Duration;
  /**
   * No more virtual time may have gone by.
   */
  atMost?: Duration;
  /**
   * So much virtual time must have gone by, to the millisecond.
   */
  exactly?: Duration;
}
