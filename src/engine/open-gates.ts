import { JsonText } from '../common/index.js';
import type { Gate, Handle, Place, SignalOutcome } from '../interpreter/index.js';
import type { InboxMessage } from '../storage/index.js';
import type { Due } from './due.js';
import type { Inbox, Offer } from './inbox.js';
import type { Journal } from './journal.js';
import { JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';

interface OpenGate {
  readonly place: Place;
  readonly gate: Gate;
  /** `seq` of a message up to which it has turned all down, those that waited then. */
  offered: number;
}

/** The gates at which a run waits for signals, in the order in which it reached them. */
export class OpenGates {
  readonly #journal: Journal;
  readonly #readiness: Readiness;
  readonly #inbox: Inbox;
  readonly #open = new Map<JournalHandle<SignalOutcome>, OpenGate>();

  constructor(journal: Journal, readiness: Readiness, inbox: Inbox) {
    this.#journal = journal;
    this.#readiness = readiness;
    this.#inbox = inbox;
  }

  begin(place: Place, gate: Gate): Handle<SignalOutcome> {
    const handle = new JournalHandle<SignalOutcome>();
    const consumed = this.#journal.take('signal-consumed', place);
    const fired = this.#journal.take('timer-fired', place);
    if (consumed !== undefined) {
      const { payload } = JSON.parse(consumed.payload ?? '{}') as { payload: unknown };
      handle.settle(consumed.seq, () => received(new JsonText(() => JSON.stringify(payload))));
    } else if (fired !== undefined) {
      handle.settle(fired.seq, () => ({ kind: 'timeout' }));
    } else this.#open.set(handle, { place, gate, offered: 0 });
    return handle;
  }

  abort(handle: Handle<unknown>, seq: number): boolean {
    if (!(handle instanceof JournalHandle) || !this.#open.delete(handle)) return false;
    this.#readiness.settle(handle, seq, () => ({ kind: 'aborted' }));
    return true;
  }

  /** The oldest message that came until then and that a gate has not turned down; the first gate has the choice. */
  next(until: number): Offer | undefined {
    let oldest: InboxMessage | undefined;
    let taker: [JournalHandle<SignalOutcome>, OpenGate] | undefined;
    for (const entry of this.#open) {
      const message = this.#nextFor(entry[1], until);
      if (message === undefined || (oldest !== undefined && oldest.seq <= message.seq)) continue;
      oldest = message;
      taker = entry;
    }
    if (oldest === undefined || taker === undefined) return undefined;
    const [message, [handle, open]] = [oldest, taker];
    return { message, take: () => this.#offer(message, handle, open) };
  }

  #nextFor(open: OpenGate, until: number): InboxMessage | undefined {
    const { name, deadline = Number.POSITIVE_INFINITY } = open.gate;
    const latest = Math.min(until, deadline);
    let after = open.offered;
    let isLate = false;
    for (;;) {
      const message = this.#inbox.first({ kind: 'signal', name, after });
      if (message === undefined) return undefined;
      // A clock that was set back lets one that is late arrive before one that is not.
      if (message.at > latest) isLate = true;
      else if (this.#journal.peek('signal-rejected', rejectionOf(open, message)) === undefined) return message;
      else if (!isLate) open.offered = message.seq;
      after = message.seq;
    }
  }

  /** What a gate has turned down is recorded, and never offered to it again. Answers whether it was taken. */
  async #offer(message: InboxMessage, handle: JournalHandle<SignalOutcome>, open: OpenGate): Promise<boolean> {
    const payload = new JsonText(message.payload ?? 'null');
    const { fits, error } = await open.gate.accept(payload.value);
    if (!fits) {
      const rejection = JSON.stringify(error === undefined ? {} : { error });
      this.#journal.append('signal-rejected', rejectionOf(open, message), rejection);
      this.#journal.remember();
      return false;
    }
    this.#inbox.take(message);
    this.#open.delete(handle);
    const entry = `{"inboxSeq":${message.seq},"payload":${payload.text}}`;
    const seq = this.#journal.append('signal-consumed', open.place, entry);
    this.#readiness.settle(handle, seq, () => received(payload));
    return true;
  }

  /** The first whose time is up; to be told so once it is certain that nothing came in time. */
  due(now: number): Due | undefined {
    let earliest: [JournalHandle<SignalOutcome>, OpenGate] | undefined;
    let at = now;
    for (const entry of this.#open) {
      const { deadline = Number.POSITIVE_INFINITY } = entry[1].gate;
      if (deadline > at || (deadline === at && earliest !== undefined)) continue;
      earliest = entry;
      at = deadline;
    }
    if (earliest === undefined) return undefined;
    const [handle, { place }] = earliest;
    return {
      place,
      at,
      why: 'timeout',
      isDeadline: true,
      settle: (seq: number) => {
        this.#open.delete(handle);
        this.#readiness.settle(handle, seq, () => ({ kind: 'timeout' }));
      },
    };
  }

  get any(): boolean {
    return this.#open.size > 0;
  }

  /** Infinite where there is none. */
  get earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { gate } of this.#open.values()) {
      earliest = Math.min(earliest, gate.deadline ?? Number.POSITIVE_INFINITY);
    }
    return earliest;
  }
}

function rejectionOf({ place }: OpenGate, { seq }: InboxMessage): Place {
  return { ...place, aspect: `${place.aspect}.${seq}` };
}

function received(payload: JsonText): SignalOutcome {
  return { kind: 'received', payload };
}
