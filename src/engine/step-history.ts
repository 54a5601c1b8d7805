import type { JsonValue } from '../common/index.js';
import type { InboxMessage, JournalRow, RunStatus } from '../storage/index.js';
import type { EntryKind } from './entries.js';
import type { FlowPlaces } from './flow-places.js';
import type { CallHistory, ChildHistory, GateHistory, SkippedHistory, SleepHistory, StepHistory } from './history.js';
import { type Growing, beginCall, readPayload } from './history-payload.js';

type Open = Growing<CallHistory> | Growing<SleepHistory> | Growing<GateHistory> | Growing<ChildHistory>;

/** What a journal tells of the items of its flow. Grows with the journal that it is told, entry by entry. */
export class StepHistories {
  readonly #flow: FlowPlaces;
  readonly #histories = new Map<string, Open | SkippedHistory>();
  /** Messages of the inbox that some gate has taken, and those that one has turned down, by its place. */
  readonly #taken = new Set<number>();
  readonly #rejected = new Map<string, Set<number>>();

  constructor(flow: FlowPlaces) {
    this.#flow = flow;
  }

  /** In the order in which they began. */
  get all(): StepHistory[] {
    return [...this.#histories.values()];
  }

  add(row: JournalRow): void {
    if (row.kind === 'scope-aborted') {
      for (const history of this.#histories.values()) if (this.#flow.ends(row, history)) abort(history, row.at);
      return;
    }
    const { step } = row;
    if (step === null) return;
    const place = placeOf({ step, occurrence: row.occurrence ?? '0' });
    this.#noteMessage(place, row);
    const known = this.#histories.get(place);
    const begun = known ?? begin({ ...row, step }, this.#flow);
    if (begun === undefined) return;
    if (known === undefined) this.#histories.set(place, begun);
    proceed(begun, row);
  }

  /** What only others know: the state of child runs, and messages that nobody has looked at. */
  look(inbox: readonly InboxMessage[], statusOf: (run: string) => RunStatus | null): void {
    for (const history of this.#histories.values()) {
      if (history.kind === 'gate' && history.state === 'waiting') history.arrived = this.#hasArrived(history, inbox);
      if (history.kind === 'child') history.status = statusOf(history.run);
    }
  }

  #noteMessage(place: string, { kind, aspect, payload }: JournalRow): void {
    if (kind === 'signal-consumed') this.#taken.add((JSON.parse(payload ?? '{}') as { inboxSeq: number }).inboxSeq);
    if (kind !== 'signal-rejected') return;
    const rejected = this.#rejected.get(place) ?? new Set();
    // `gate.7` has turned down message 7.
    this.#rejected.set(place, rejected.add(Number(aspect?.split('.').at(-1))));
  }

  #hasArrived(gate: GateHistory, inbox: readonly InboxMessage[]): boolean {
    const rejected = this.#rejected.get(placeOf(gate));
    return inbox.some(
      ({ kind, name, seq, at }) =>
        kind === 'signal' &&
        name === gate.signal &&
        !this.#taken.has(seq) &&
        rejected?.has(seq) !== true &&
        at <= (gate.deadline ?? Infinity),
    );
  }
}

function placeOf({ step, occurrence }: { readonly step: string; readonly occurrence: string }): string {
  return `${step}\n${occurrence}`;
}

function begin(
  { step, occurrence, kind, aspect, at, payload }: JournalRow & { readonly step: string },
  flow: FlowPlaces,
): Open | SkippedHistory | undefined {
  const begun = { step, occurrence: occurrence ?? '0', startedAt: at };
  const read = readPayload(payload);
  switch (kind as EntryKind) {
    case 'step-started':
    case 'step-failed':
      return { kind: 'step', ...begun, state: 'running', attempts: 0, interruptions: 0 };
    case 'step-skipped':
      return { kind: 'skipped', ...begun, state: 'skipped', endedAt: at };
    case 'decision': {
      const item = flow.item(step);
      if (aspect === 'until' && typeof read.value === 'number') {
        return { kind: 'sleep', ...begun, state: 'sleeping', dueAt: read.value };
      }
      if (aspect !== 'gate' || item === undefined || !('waitFor' in item) || read.error !== undefined) return undefined;
      const { deadline = null } = read.value as { deadline?: number };
      const { waitFor: signal, schema } = item;
      const gate = { signal, deadline, ...(typeof schema === 'object' && { schema }) };
      return { kind: 'gate', ...begun, state: 'waiting', rejected: 0, arrived: false, ...gate };
    }
    case 'child-started': {
      const { run = '', workflow = '', deadline = null } = read;
      return { kind: 'child', ...begun, state: 'waiting', run, workflow, deadline, status: null };
    }
    default:
      return undefined;
  }
}

function proceed(history: Open | SkippedHistory, row: JournalRow): void {
  switch (history.kind) {
    case 'step':
      return proceedCall(history, row);
    case 'sleep':
      if (row.kind === 'timer-fired') end(history, 'slept', row.at);
      return;
    case 'gate':
      return proceedGate(history, row);
    case 'child':
      return proceedChild(history, row);
    case 'skipped':
      return;
  }
}

function proceedCall(history: Growing<CallHistory>, { kind, aspect, at, payload }: JournalRow): void {
  const read = readPayload(payload);
  switch (kind as EntryKind) {
    case 'step-started':
      return beginCall(history, read);
    case 'step-completed':
      if (read.value !== undefined) history.output = read.value;
      return end(history, 'completed', at);
    case 'step-failed':
      if (read.error) history.error = read.error;
      return end(history, 'failed', at);
    case 'step-retrying':
      // A reversal's back-off stands at the same place.
      if (aspect?.startsWith('compensate.') === true || typeof read.value !== 'number') return;
      history.state = 'retrying';
      history.dueAt = read.value;
      delete history.endedAt;
  }
}

function proceedGate(history: Growing<GateHistory>, { kind, aspect, at, payload }: JournalRow): void {
  switch (kind as EntryKind) {
    case 'signal-rejected':
      history.rejected += 1;
      return;
    case 'signal-consumed':
      history.output = (JSON.parse(payload ?? '{}') as { payload: JsonValue }).payload;
      return end(history, 'received', at);
    case 'timer-fired':
      if (aspect === 'gate') end(history, 'timed-out', at);
  }
}

function proceedChild(history: Growing<ChildHistory>, { kind, aspect, at, payload }: JournalRow): void {
  if (kind === 'timer-fired' && aspect === 'child') return end(history, 'timed-out', at);
  if (kind !== 'child-settled') return;
  const { status, output, error } = readPayload(payload);
  if (output !== undefined && output !== null) history.output = output;
  if (error) history.error = error;
  end(history, status === 'completed' ? 'completed' : 'failed', at);
}

/** A child goes on until it has ended, whatever ends its scope. */
function abort(history: Open | SkippedHistory, at: number): void {
  if (history.kind === 'sleep' && history.state === 'sleeping') end(history, 'aborted', at);
  if (history.kind === 'gate' && history.state === 'waiting') end(history, 'aborted', at);
  if (history.kind === 'step' && history.state === 'retrying') end(history, 'failed', at);
}

function end<T extends Open>(history: T, state: T['state'], at: number): void {
  history.state = state;
  history.endedAt = at;
  if (history.kind === 'step') delete history.dueAt;
}
