import type { JournalRow, RunRecord, Storage } from '../../storage/index.js';
import type { Io } from '../io.js';

/** How often a run is looked at of whose changes nothing is heard. */
const lookEveryMs = 500;

/** The entries of a run's journal from the first on, in portions. */
export async function* journalOf(storage: Storage, run: number, afterSeq = 0): AsyncGenerator<JournalRow[]> {
  for (let seq = afterSeq; ;) {
    const rows = await storage.readJournal(run, seq, 500);
    seq = rows.at(-1)?.seq ?? seq;
    if (rows.length > 0) yield rows;
    if (rows.length < 500) return;
  }
}

/**
 * Tells the entries of a run as they come, whoever drives it, until the run has ended.
 *
 * @returns whether it has; false where an interruption came first
 */
export async function follow(
  storage: Storage,
  record: RunRecord,
  io: Io,
  tell: (rows: readonly JournalRow[]) => void | Promise<void>,
): Promise<boolean> {
  const wake = new Bell();
  let interrupted = false;
  const endings = [
    storage.onForeignChange(() => wake.ring()),
    io.onInterrupt(() => {
      interrupted = true;
      wake.ring();
    }),
  ];
  try {
    for (let seq = 0; ;) {
      // The record first: what comes between the two is told the next time.
      const { endedAt } = (await storage.getRun(record.id)) ?? { endedAt: 0 };
      for await (const rows of journalOf(storage, record.run, seq)) {
        seq = rows.at(-1)?.seq ?? seq;
        await tell(rows);
        if (interrupted) return false;
      }
      if (endedAt !== null) return true;
      if (interrupted) return false;
      const timer = io.clock.setTimer(lookEveryMs, () => wake.ring());
      await wake.rung();
      timer.cancel();
    }
  } finally {
    for (const end of endings) end();
  }
}

/** Rings that come while nobody listens are heard once. */
class Bell {
  #hasRung = false;
  #heard: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#heard?.();
  }

  async rung(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => (this.#heard = resolve));
    this.#hasRung = false;
    this.#heard = undefined;
  }
}
