import type { Handle, OperatorVerdict, Place, RunError } from '../interpreter/index.js';
import { readStuck } from './entries.js';
import type { Inbox, Offer } from './inbox.js';
import type { Journal } from './journal.js';
import { JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';

interface OpenQuestion {
  readonly place: Place;
  /** What was said before the unwind came to stand here was said about something else. */
  readonly afterInbox: number;
}

/** Where an unwind is stuck until an operator says what to do. */
export class OpenOperators {
  readonly #journal: Journal;
  readonly #readiness: Readiness;
  readonly #inbox: Inbox;
  readonly #open = new Map<JournalHandle<OperatorVerdict>, OpenQuestion>();

  constructor(journal: Journal, readiness: Readiness, inbox: Inbox) {
    this.#journal = journal;
    this.#readiness = readiness;
    this.#inbox = inbox;
  }

  /** @param onNew told where the unwind has come to stand just now, and not in an earlier walk */
  begin(place: Place, error: RunError | undefined, onNew: () => void): Handle<OperatorVerdict> {
    const handle = new JournalHandle<OperatorVerdict>();
    const stuck = this.#journal.take('compensation-stuck', place);
    const afterInbox = stuck === undefined ? this.#inbox.seen : readStuck(stuck.payload).afterInbox;
    if (stuck === undefined) {
      this.#journal.append('compensation-stuck', place, JSON.stringify({ afterInbox, ...(error && { error }) }));
      onNew();
    }
    const decided = this.#journal.take('operator-decided', place);
    if (decided === undefined) this.#open.set(handle, { place, afterInbox });
    else handle.settle(decided.seq, () => readVerdict(decided.payload));
    return handle;
  }

  /** The oldest word of an operator that is about what is asked. */
  next(until: number): Offer | undefined {
    for (const [handle, { place, afterInbox }] of this.#open) {
      const message = this.#inbox.first({ kind: 'operator', after: afterInbox, until });
      if (message === undefined) continue;
      const take = (): boolean => {
        this.#inbox.take(message);
        this.#open.delete(handle);
        const payload = JSON.stringify({ verdict: message.name, inboxSeq: message.seq });
        const seq = this.#journal.append('operator-decided', place, payload);
        this.#readiness.settle(handle, seq, () => readVerdict(payload));
        return true;
      };
      return { message, take };
    }
    return undefined;
  }

  get any(): boolean {
    return this.#open.size > 0;
  }
}

function readVerdict(payload: string | null): OperatorVerdict {
  return (JSON.parse(payload ?? '{}') as { verdict: OperatorVerdict }).verdict;
}
