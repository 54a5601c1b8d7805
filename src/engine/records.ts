import type { Handle, Place, RecordKind, Recorded } from '../interpreter/index.js';
import { errorPayload, readRecorded, readStepInput, recordedPayload } from './entries.js';
import type { Journal } from './journal.js';
import { JournalHandle } from './journal-handle.js';

interface Known {
  readonly seq: number;
  readonly read: () => Recorded;
}

/** Where a resolved input is kept: with the first start of what it is for, or as its failure. */
const inputKinds = {
  'step-input': { started: 'step-started', failed: 'step-failed', firstAspect: '1' },
  'compensation-input': {
    started: 'compensation-started',
    failed: 'compensation-failed',
    firstAspect: 'compensate.1',
  },
} as const;

/** Values that are computed once, and read from the journal ever after. */
export class Records {
  readonly #journal: Journal;
  readonly #throwIfFaulty: () => void;

  /** @param throwIfFaulty asked when a value is there that took some time: nothing is written once the walk is void */
  constructor(journal: Journal, throwIfFaulty: () => void) {
    this.#journal = journal;
    this.#throwIfFaulty = throwIfFaulty;
  }

  record(
    kind: RecordKind,
    place: Place,
    compute: () => Recorded | Promise<Recorded>,
  ): Handle<Recorded> | Promise<Handle<Recorded>> {
    const handle = new JournalHandle<Recorded>(true);
    const known = this.#known(kind, place);
    if (known !== undefined) {
      handle.settle(known.seq, known.read);
      return handle;
    }
    const recorded = compute();
    return recorded instanceof Promise
      ? recorded.then((recorded) => this.#settle(kind, place, handle, recorded))
      : this.#settle(kind, place, handle, recorded);
  }

  #settle(kind: RecordKind, place: Place, handle: JournalHandle<Recorded>, recorded: Recorded): Handle<Recorded> {
    this.#throwIfFaulty();
    // An input that is fine is kept with the start of the attempt that it is for.
    if (kind === 'decision' || kind === 'step-retrying') {
      this.#journal.append(kind, place, recordedPayload(recorded));
    } else if (!recorded.ok) {
      this.#journal.append(inputKinds[kind].failed, place, errorPayload(recorded.error, { effect: 'none' }));
    }
    handle.settle(this.#journal.lastSeq, () => recorded);
    return handle;
  }

  #known(kind: RecordKind, place: Place): Known | undefined {
    if (kind === 'decision' || kind === 'step-retrying') {
      const row = this.#journal.take(kind, place);
      return row && { seq: row.seq, read: () => readRecorded(row.payload ?? '{}') };
    }
    const { started: startedKind, failed: failedKind, firstAspect } = inputKinds[kind];
    // The failure first: an input that could not be had in one pass may have been had in a later one.
    const failed = this.#journal.take(failedKind, place);
    if (failed !== undefined) return { seq: failed.seq, read: () => readRecorded(failed.payload ?? '') };
    const started = this.#journal.peek(startedKind, { ...place, aspect: firstAspect });
    return started && { seq: started.seq, read: () => ({ ok: true, value: readStepInput(started.payload ?? '') }) };
  }
}
