import { JsonText, type JsonValue } from '../common/index.js';
import type { SecretReference } from '../definition/index.js';
import type { Recorded, RunError } from '../interpreter/index.js';

/** The words of the journal. What each holds is told by the functions below, which write and read it. */
export type EntryKind =
  | 'run-started'
  | 'step-started'
  | 'step-completed'
  | 'step-failed'
  | 'step-retrying'
  | 'step-skipped'
  | 'decision'
  | 'timer-fired'
  | 'signal-consumed'
  | 'signal-rejected'
  | 'cancel-requested'
  | 'child-started'
  | 'child-cancelled'
  | 'child-settled'
  | 'child-unwind'
  | 'child-unwound'
  | 'pivot'
  | 'compensation-started'
  | 'compensation-completed'
  | 'compensation-failed'
  | 'compensation-skipped'
  | 'compensation-stuck'
  | 'operator-decided'
  | 'unwind-ended'
  | 'body-failed'
  | 'scope-ended'
  | 'scope-aborted'
  | 'taken-over'
  | 'run-outcome'
  | 'run-ended';

const valuePrefix = '{"value":';

/** `{"value":…}`, or `{}` where there is none. The text of the value is taken over as it is. */
export function valuePayload(value: JsonText | undefined): string {
  return value === undefined ? '{}' : `${valuePrefix}${value.text}}`;
}

export function errorPayload(error: RunError, more: Record<string, JsonValue> = {}): string {
  return JSON.stringify({ error, ...more });
}

export function readValue(payload: string): JsonText | undefined {
  return payload.startsWith(valuePrefix) ? new JsonText(payload.slice(valuePrefix.length, -1)) : undefined;
}

export function recordedPayload(recorded: Recorded): string {
  return recorded.ok ? valuePayload(recorded.value) : errorPayload(recorded.error);
}

export function readRecorded(payload: string): Recorded {
  if (payload.startsWith('{"error":')) return { ok: false, error: (JSON.parse(payload) as { error: RunError }).error };
  return { ok: true, value: readValue(payload) };
}

/** What a `step-started` holds; `input`, which comes last, on an occurrence's first start only, later ones have the same. */
export interface StepStarted {
  readonly idempotencyKey: string;
  readonly owed: boolean;
  readonly input?: JsonValue;
  /** Where in the input references to secrets stand, for readers: any other `$secret` there is data. */
  readonly secrets?: readonly SecretReference[];
  /** The attempt was begun before, and its outcome never came. */
  readonly restart?: true;
  /** It was begun in the run that this one goes on with, and is done anew: nothing has interrupted it. */
  readonly resumed?: true;
}

const inputMark = ',"input":';

export function stepStartedPayload(started: Omit<StepStarted, 'input'>, input: JsonText | undefined): string {
  const head = JSON.stringify(started);
  return input === undefined ? head : `${head.slice(0, -1)}${inputMark}${input.text}}`;
}

/**
 * The journaled `with`. Its text is taken over as it is: before it are only texts and names that are ours, in which no
 * such mark can be.
 */
export function readStepInput(payload: string): JsonText | undefined {
  const at = payload.indexOf(inputMark);
  return at === -1 ? undefined : new JsonText(payload.slice(at + inputMark.length, -1));
}

/** What a `compensation-stuck` holds: messages of operators up to this one were about something else. */
export function readStuck(payload: string | null): { readonly afterInbox: number } {
  const { afterInbox = 0 } = JSON.parse(payload ?? '{}') as { afterInbox?: number };
  return { afterInbox };
}

/** What a `taken-over`, the first entry of a resumed run, holds. */
export interface TakenOver {
  /** The run that it goes on with. */
  readonly run: string;
  /** How many entries this one has from there, itself among them; absent in what an older Runsheet wrote. */
  readonly entries?: number;
  /** Begins the idempotency keys: the id of the first run in the chain. */
  readonly keyPrefix: string;
  /** As `RunMeta.handledAnew`; absent in what an older Runsheet wrote. */
  readonly handledAnew?: readonly { readonly step: string; readonly occurrence: string; readonly keyPrefix: string }[];
}

/** Undefined where the run goes on with none. */
export function readTakenOver(journal: readonly { kind: string; payload: string | null }[]): TakenOver | undefined {
  const [first] = journal;
  return first?.kind === 'taken-over' ? (JSON.parse(first.payload ?? '{}') as TakenOver) : undefined;
}
