import { JsonText } from '../common/index.js';
import type { Gate, Handle, Place, SignalOutcome } from '../interpreter/index.js';
import { type Inbox } from './inbox.js';
import type { Journal } from './journal.js';
import { JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';

/** Something whose time is up; to be settled by the entry that says so. */
export interface TimedOut {
  readonly place: Place;
  /** When it was due. */
  readonly at: number;
  readonly settle: (seq: number) => void;
}

interface OpenGate {
  readonly place: Place;
  readonly gate: Gate;
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
    } else this.#open.set(handle, { place, gate });
    return handle;
  }

  abort(handle: Handle<unknown>, seq: number): boolean {
    if (!(handle instanceof JournalHandle) || !this.#open.delete(handle)) return false;
    this.#readiness.settle(handle, seq, () => ({ kind: 'aborted' }));
    return true;
  }

  /**
   * Lets each gate take the oldest message that fits. What a gate has turned down is recorded, and never
   * offered to it again. Answers whether one was taken.
   */
  async offer(): Promise<boolean> {
    let taken = false;
    for (const [handle, { place, gate }] of this.#open) {
      for (const message of this.#inbox.waiting('signal', gate.name)) {
        if (gate.deadline !== undefined && message.at > gate.deadline) continue;
        const rejection = { ...place, aspect: `${place.aspect}.${message.seq}` };
        if (this.#journal.peek('signal-rejected', rejection) !== undefined) continue;
        const payload = new JsonText(message.payload ?? 'null');
        const { fits, error } = await gate.accept(payload.value);
        if (!fits) {
          this.#reject(rejection, error);
          continue;
        }
        this.#inbox.take(message);
        this.#open.delete(handle);
        const entry = `{"inboxSeq":${message.seq},"payload":${payload.text}}`;
        const seq = this.#journal.append('signal-consumed', place, entry);
        this.#readiness.settle(handle, seq, () => received(payload));
        taken = true;
        break;
      }
    }
    return taken;
  }

  /** Gates whose time is up; to be told so once it is certain that nothing came in time. */
  due(now: number): readonly TimedOut[] {
    return [...this.#open]
      .filter(([, { gate }]) => (gate.deadline ?? Number.POSITIVE_INFINITY) <= now)
      .map(([handle, { place, gate }]) => ({
        place,
        at: gate.deadline ?? now,
        settle: (seq: number) => {
          this.#open.delete(handle);
          this.#readiness.settle(handle, seq, () => ({ kind: 'timeout' }));
        },
      }));
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

  #reject(place: Place, error: unknown): void {
    this.#journal.append('signal-rejected', place, JSON.stringify(error === undefined ? {} : { error }));
    this.#journal.remember();
  }
}

function received(payload: JsonText): SignalOutcome {
  return { kind: 'received', payload };
}
