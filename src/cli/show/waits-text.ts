import { errorText, parseDuration } from '../../common/index.js';
import { type WorkflowDocument, walkItems } from '../../definition/index.js';
import type {
  ChildHistory,
  GateHistory,
  ReversalHistory,
  RunHistory,
  RunOrder,
  StepHistory,
} from '../../engine/index.js';
import { typeOf } from '../schema-text.js';
import { durationText, placeText, timeText } from '../text.js';

/**
 * What a run waits for, a line for each; nothing once it has ended.
 *
 * @param options.nobodyDrives no engine is alive, whatever leases say
 */
export function waitsFor(history: RunHistory, now: number, { nobodyDrives = false } = {}): string[] {
  const { run, drivenUntil, order } = history;
  if (run.endedAt !== null) return [];
  const waits = order === null ? ownWaits(history, now) : [];
  const told = order === null ? '' : `: ${orders[order]}`;
  if (drivenUntil !== null) {
    const driver =
      drivenUntil > now && !nobodyDrives
        ? 'the engine that is driving it'
        : 'an engine that takes it over: the one that drove it is gone';
    return [driver + told, ...waits];
  }
  const isDue = run.dueAt !== null && run.dueAt <= now;
  if (waits.length === 0 && run.dueAt !== null && !isDue)
    return [`${timeText(run.dueAt)}, and an engine that drives it`];
  return isDue || waits.length === 0 ? [`an engine that drives it${told}`, ...waits] : waits;
}

const orders: Readonly<Record<RunOrder, string>> = {
  cancel: 'it is told to end',
  resume: 'it is told to try again to undo what failed',
  abandon: 'it is told to leave as it is what is not undone',
};

function ownWaits({ document, steps, reversals }: RunHistory, now: number): string[] {
  return [
    ...steps.map((step) => stepWait(step, now, remindersOf(document))),
    ...reversals.map((reversal) => reversalWait(reversal)),
  ].filter((text) => text !== undefined);
}

function stepWait(step: StepHistory, now: number, reminders: ReadonlyMap<string, number>): string | undefined {
  const place = placeText(step.step, step.occurrence);
  switch (step.kind) {
    case 'gate':
      return step.state === 'waiting' ? gateWait(step, place, now, reminders.get(step.step)) : undefined;
    case 'child':
      return step.state === 'waiting' ? childWait(step, place, now) : undefined;
    case 'sleep':
      return step.state === 'sleeping' ? `${place}, which sleeps until ${timeText(step.dueAt)}` : undefined;
    case 'step':
      return step.state === 'retrying'
        ? `attempt ${step.attempts + 1} of ${place} at ${timeText(step.dueAt ?? now)}`
        : undefined;
    case 'skipped':
      return undefined;
  }
}

function gateWait(gate: GateHistory, place: string, now: number, remindMs: number | undefined): string {
  const { signal, startedAt, deadline, schema, rejected, arrived } = gate;
  return [
    `the signal ${signal} (${place})${arrived ? ', which has arrived' : ''}`,
    `since ${timeText(startedAt)}`,
    deadlineText(deadline, now),
    ...reminderText(gate, now, remindMs),
    ...(schema === undefined ? [] : [`payload ${typeOf(schema)}`]),
    ...(rejected === 0 ? [] : [`${rejected} turned down by its filter`]),
  ].join(', ');
}

/** Milliseconds between the reminders of each gate that has some. */
function remindersOf(document: WorkflowDocument | null): ReadonlyMap<string, number> {
  const reminders = new Map<string, number>();
  if (document === null) return reminders;
  walkItems(document, ({ item, key }) => {
    if ('waitFor' in item && item.remind !== undefined) reminders.set(key, parseDuration(item.remind.every));
  });
  return reminders;
}

/** The k-th is due at the opening and (k + 1) times the interval; none at the deadline or after it. */
function reminderText({ startedAt, deadline }: GateHistory, now: number, everyMs: number | undefined): string[] {
  if (everyMs === undefined) return [];
  const next = startedAt + (Math.floor(Math.max(0, now - startedAt) / everyMs) + 1) * everyMs;
  return deadline !== null && next >= deadline ? [] : [`next reminder ${timeText(next)}`];
}

function childWait({ run, workflow, status, deadline }: ChildHistory, place: string, now: number): string {
  const state = status === null ? 'which is gone' : `which is ${status}`;
  return [
    `the run ${run} of ${workflow} (${place})`,
    state,
    ...(deadline === null ? [] : [deadlineText(deadline, now)]),
  ].join(', ');
}

function deadlineText(deadline: number | null, now: number): string {
  if (deadline === null) return 'without a deadline';
  return `until ${timeText(deadline)} (${deadline > now ? `${durationText(deadline - now)} left` : 'overdue'})`;
}

function reversalWait({
  step,
  occurrence,
  state,
  handler,
  run,
  attempts,
  dueAt,
  error,
}: ReversalHistory): string | undefined {
  const place = placeText(step, occurrence);
  switch (state) {
    case 'stuck': {
      const by = handler ?? `the run ${run}`;
      return `an operator: ${place} could not be undone by ${by}${error === undefined ? '' : `: ${errorText(error)}`}`;
    }
    case 'retrying':
      return `attempt ${attempts + 1} of undoing ${place}${dueAt === undefined ? '' : ` at ${timeText(dueAt)}`}`;
    case 'running':
      return run === null ? undefined : `the run ${run} (${place}) to be undone`;
    case 'owed':
    case 'undone':
    case 'skipped':
    case 'kept':
      return undefined;
  }
}
