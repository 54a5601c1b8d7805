import { JsonText, type JsonValue } from '../common/index.js';
import type {
  ChildHandle,
  ChildOutcome,
  ChildStart,
  ChildUnwound,
  Handle,
  OperatorVerdict,
  Place,
  RunError,
} from '../interpreter/index.js';
import type { InboxMessage, ParentPlace, RollbackStatus, RunRecord, RunStatus } from '../storage/index.js';
import type { Beginnings } from './beginnings.js';
import type { Due } from './due.js';
import type { Inbox, Offer } from './inbox.js';
import type { Journal } from './journal.js';
import { JournalBegunHandle, JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';
import { childRunId } from './run-ids.js';

/** What a child tells its parent when it ends, or becomes stuck. */
export interface ChildEnded {
  readonly status: RunStatus;
  readonly output: JsonValue;
  readonly error: RunError | null;
  readonly rollbackStatus: RollbackStatus | null;
  /** A pivot was reached: what it did is there to stay. */
  readonly pivotReached: boolean;
}

export interface ChildrenOptions {
  readonly journal: Journal;
  readonly readiness: Readiness;
  readonly inbox: Inbox;
  readonly beginnings: Beginnings;
  readonly now: () => number;
  /** Id of the run whose children these are. */
  readonly parent: string;
  readonly readRun: (id: string) => Promise<RunRecord | undefined>;
  /** Whether a run has reached its pivot. */
  readonly hasPivot: (run: RunRecord) => Promise<boolean>;
}

interface OpenChild {
  readonly place: Place;
  readonly run: string;
  readonly deadline: number;
}

interface OpenUnwind {
  readonly place: Place;
  readonly run: string;
  readonly how: 'unwind' | OperatorVerdict;
  /** It was asked for: messages up to this one are older. Undefined: not asked for yet. */
  askedAfter: number | undefined;
}

/**
 * Of the entry that says that a child's time is up: the child is then ended and undone. Earlier versions wrote `timeout`,
 * and the child went on by itself.
 */
const childTimeout = 'child-timeout';

class Child extends JournalBegunHandle<ChildOutcome> implements ChildHandle {
  constructor(readonly run: string) {
    super();
  }
}

/** The runs that a run has started: each begins with the entry that says so, and ends by a message. */
export class OpenChildren {
  readonly #options: ChildrenOptions;
  readonly #open = new Map<Child, OpenChild>();
  readonly #unwinds = new Map<JournalHandle<ChildUnwound>, OpenUnwind>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  begin(place: Place, start: ChildStart): ChildHandle {
    const { journal, beginnings } = this.#options;
    const started = journal.take('child-started', place);
    if (started === undefined) {
      const handle = new Child(childRunId(this.#placeOf(place)));
      beginnings.add(handle, () => {
        this.#open.set(handle, this.#start(handle.run, place, start));
        handle.begin(journal.lastSeq);
      });
      return handle;
    }
    const known = readStarted(started.payload ?? '');
    const { run } = known;
    const handle = new Child(run);
    handle.begin(started.seq);
    const settled = journal.take('child-settled', place);
    const fired = journal.take('timer-fired', place);
    if (settled !== undefined) handle.settle(settled.seq, () => outcomeOf(run, readEnded(settled.payload)));
    else if (fired !== undefined) {
      handle.settle(fired.seq, () => ({ kind: 'timeout', run, isToEnd: readWhy(fired.payload) === childTimeout }));
    } else this.#open.set(handle, openChild(place, known));
    return handle;
  }

  /** Asks a child to end; the handle becomes ready when it has. One that has not begun yet never does. */
  cancel(handle: Handle<unknown>, reason: string, compensate: boolean, abortSeq: number): boolean {
    if (!(handle instanceof Child)) return false;
    const { journal, beginnings, readiness } = this.#options;
    if (beginnings.withdraw(handle)) {
      readiness.settle(handle, abortSeq, (): ChildOutcome => ({ kind: 'aborted' }));
      return true;
    }
    const open = this.#open.get(handle);
    if (open === undefined) return false;
    if (journal.take('child-cancelled', open.place) === undefined) {
      journal.append('child-cancelled', open.place, JSON.stringify({ compensate }));
      this.#askToCancel(open.run, reason, compensate);
    }
    return true;
  }

  unwind(place: Place, run: string, how: 'unwind' | OperatorVerdict): Handle<ChildUnwound> {
    const { journal } = this.#options;
    const handle = new JournalHandle<ChildUnwound>();
    const asked = journal.take('child-unwind', place);
    const unwound = journal.take('child-unwound', place);
    if (unwound !== undefined) {
      const { result } = JSON.parse(unwound.payload ?? '{}') as { result: ChildUnwound };
      handle.settle(unwound.seq, () => result);
      return handle;
    }
    const askedAfter = asked && (JSON.parse(asked.payload ?? '{}') as { afterInbox: number }).afterInbox;
    this.#unwinds.set(handle, { place, run, how, askedAfter });
    return handle;
  }

  /** Asks for unwinds that were not asked for. Answers whether one is settled by that. */
  async askForUnwinds(): Promise<boolean> {
    let settled = false;
    for (const [handle, unwind] of this.#unwinds) {
      if (unwind.askedAfter === undefined && (await this.#ask(handle, unwind))) settled = true;
    }
    return settled;
  }

  /** The oldest end of a child that is waited for. */
  next(until: number): Offer | undefined {
    const { inbox } = this.#options;
    let oldest: Offer | undefined;
    const consider = (
      message: InboxMessage | undefined,
      take: (message: InboxMessage) => ReturnType<Offer['take']>,
    ) => {
      if (message === undefined || (oldest !== undefined && oldest.message.seq <= message.seq)) return;
      oldest = { message, take: () => take(message) };
    };
    for (const [handle, { place, run }] of this.#open) {
      const message = inbox.first({ kind: 'child-ended', name: run, until });
      consider(message, (message) => this.#settleChild(message, handle, place));
    }
    for (const [handle, unwind] of this.#unwinds) {
      if (unwind.askedAfter === undefined) continue;
      const message = inbox.first({ kind: 'child-ended', name: unwind.run, after: unwind.askedAfter, until });
      consider(message, (message) => this.#settleUnwind(message, handle, unwind));
    }
    return oldest;
  }

  /** The first whose time is up; to be told so once it is certain that it did not end in time. */
  due(now: number): Due | undefined {
    let earliest: Due | undefined;
    for (const [handle, { place, run, deadline }] of this.#open) {
      if (deadline > now || (earliest !== undefined && earliest.at <= deadline)) continue;
      const settle = (seq: number): void => {
        this.#open.delete(handle);
        this.#options.readiness.settle(handle, seq, (): ChildOutcome => ({ kind: 'timeout', run, isToEnd: true }));
      };
      earliest = { place, at: deadline, why: childTimeout, isDeadline: true, settle };
    }
    return earliest;
  }

  get any(): boolean {
    return this.#open.size > 0 || this.#unwinds.size > 0;
  }

  /** Infinite where there is none. */
  get earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { deadline } of this.#open.values()) earliest = Math.min(earliest, deadline);
    return earliest;
  }

  #placeOf({ step, occurrence }: Place): ParentPlace {
    return { id: this.#options.parent, step: step ?? '', occurrence };
  }

  #start(run: string, place: Place, { workflow, revision, hash, input, timeoutMs }: ChildStart): OpenChild {
    const { journal, now } = this.#options;
    const parent = this.#placeOf(place);
    const at = now();
    const deadline = timeoutMs === undefined ? {} : { deadline: at + timeoutMs };
    journal.append('child-started', place, JSON.stringify({ run, workflow, revision, ...deadline }));
    journal.addChild({
      id: run,
      workflow,
      revision,
      definitionHash: hash,
      key: null,
      input: input.text,
      createdAt: at,
      dueAt: at,
      parent,
    });
    return openChild(place, { run, ...deadline });
  }

  #settleChild(message: InboxMessage, handle: Child, place: Place): boolean {
    const { journal, inbox, readiness } = this.#options;
    inbox.take(message);
    this.#open.delete(handle);
    const ended = JSON.parse(message.payload ?? '{}') as ChildEnded;
    const seq = journal.append('child-settled', place, JSON.stringify({ inboxSeq: message.seq, ...ended }));
    readiness.settle(handle, seq, () => outcomeOf(handle.run, ended));
    return true;
  }

  async #settleUnwind(
    message: InboxMessage,
    handle: JournalHandle<ChildUnwound>,
    unwind: OpenUnwind,
  ): Promise<boolean> {
    this.#options.inbox.take(message);
    const result = unwoundResult(JSON.parse(message.payload ?? '{}') as ChildEnded);
    // It had completed before it could be cancelled: what it did is still to be undone.
    if (result === undefined) return this.#ask(handle, unwind);
    this.#settle(handle, unwind, result, message.seq);
    return true;
  }

  /** Looks at the child and asks for what is to be done; settles at once where there is nothing to ask for. */
  async #ask(handle: JournalHandle<ChildUnwound>, unwind: OpenUnwind): Promise<boolean> {
    const { journal, inbox, readRun } = this.#options;
    const record = await readRun(unwind.run);
    const known = record === undefined ? 'kept' : await this.#alreadyKnown(record, unwind.how);
    if (known !== undefined || record === undefined) {
      this.#settle(handle, unwind, known ?? 'kept');
      return true;
    }
    journal.append('child-unwind', unwind.place, JSON.stringify({ afterInbox: inbox.seen }));
    unwind.askedAfter = inbox.seen;
    if (record.status === 'completed') journal.reopen(unwind.run);
    else if (record.status === 'compensation-stuck') this.#tellOperator(unwind.run, unwind.how);
    else this.#askToCancel(unwind.run, 'the parent is undone', true);
    return false;
  }

  async #alreadyKnown(record: RunRecord, how: OpenUnwind['how']): Promise<ChildUnwound | undefined> {
    const { status, rollbackStatus } = record;
    if (status === 'compensation-stuck') return how === 'unwind' ? 'stuck' : undefined;
    if (status !== 'completed' && status !== 'failed' && status !== 'cancelled') return undefined;
    if (status === 'completed' && rollbackStatus === null) {
      return (await this.#options.hasPivot(record)) ? 'kept' : undefined;
    }
    if (rollbackStatus === 'abandoned' || rollbackStatus === 'partial') return 'kept';
    return (await this.#options.hasPivot(record)) ? 'kept' : undoneResult(rollbackStatus);
  }

  #settle(handle: JournalHandle<ChildUnwound>, { place }: OpenUnwind, result: ChildUnwound, inboxSeq?: number): void {
    const { journal, readiness } = this.#options;
    this.#unwinds.delete(handle);
    const payload = { result, ...(inboxSeq !== undefined && { inboxSeq }) };
    const seq = journal.append('child-unwound', place, JSON.stringify(payload));
    readiness.settle(handle, seq, () => result);
  }

  #askToCancel(run: string, reason: string, compensate: boolean): void {
    const { journal, now } = this.#options;
    const payload = JSON.stringify({ compensate, reason });
    journal.post({ runId: run, message: { kind: 'cancel', name: null, payload, at: now() } });
  }

  #tellOperator(run: string, verdict: string): void {
    const { journal, now } = this.#options;
    journal.post({ runId: run, message: { kind: 'operator', name: verdict, payload: null, at: now() } });
  }
}

function openChild(
  place: Place,
  { run, deadline = Number.POSITIVE_INFINITY }: { run: string; deadline?: number },
): OpenChild {
  return { place, run, deadline };
}

function readWhy(payload: string | null): string | undefined {
  return (JSON.parse(payload ?? '{}') as { why?: string }).why;
}

function readStarted(payload: string): { run: string; deadline?: number } {
  return JSON.parse(payload) as { run: string; deadline?: number };
}

function readEnded(payload: string | null): ChildEnded {
  return JSON.parse(payload ?? '{}') as ChildEnded;
}

function outcomeOf(run: string, { status, output, error }: ChildEnded): ChildOutcome {
  if (status === 'completed') {
    return { kind: 'completed', run, output: output === null ? undefined : new JsonText(() => JSON.stringify(output)) };
  }
  const fallback: RunError = {
    name: 'Cancelled',
    message: `the run is ${status}`,
    step: null,
    attempt: null,
    details: null,
  };
  return { kind: 'failed', run, error: error ?? fallback };
}

/** Undefined where the child has completed and nothing was undone. */
function unwoundResult({ status, rollbackStatus, pivotReached }: ChildEnded): ChildUnwound | undefined {
  if (status === 'compensation-stuck') return 'stuck';
  if (pivotReached || rollbackStatus === 'abandoned' || rollbackStatus === 'partial') return 'kept';
  return status === 'completed' && rollbackStatus === null ? undefined : undoneResult(rollbackStatus);
}

function undoneResult(rollbackStatus: RollbackStatus | null): ChildUnwound {
  return rollbackStatus === 'completed' ? 'undone' : 'not-applicable';
}
