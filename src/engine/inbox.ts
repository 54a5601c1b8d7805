import type { InboxMessage, JournalRow } from '../storage/index.js';

/** The kinds of messages that a run can get. */
export type MessageKind = 'signal' | 'cancel' | 'child-ended' | 'operator';

/** Kinds of entries that say, by `inboxSeq`, which message was taken. */
const taking: ReadonlySet<string> = new Set([
  'signal-consumed',
  'cancel-requested',
  'child-settled',
  'child-unwound',
  'operator-decided',
]);

/** What others have sent to a run and nothing has taken yet, in the order of its arrival. */
export class Inbox {
  readonly #read: (afterSeq: number) => Promise<readonly InboxMessage[]>;
  readonly #taken = new Set<number>();
  #waiting: InboxMessage[] = [];
  #seen = 0;
  /** Somebody says that there is something new. */
  #stale: boolean;

  /**
   * @param journal tells what earlier lives of the run have taken
   * @param inboxSeq the highest message that there is known to be
   */
  constructor(
    journal: readonly JournalRow[],
    inboxSeq: number,
    read: (afterSeq: number) => Promise<readonly InboxMessage[]>,
  ) {
    this.#read = read;
    this.#stale = inboxSeq > 0;
    for (const { kind, payload } of journal) {
      if (!taking.has(kind)) continue;
      const { inboxSeq } = JSON.parse(payload ?? '{}') as { inboxSeq?: number };
      if (inboxSeq !== undefined) this.#taken.add(inboxSeq);
    }
  }

  /** The highest message that was read. */
  get seen(): number {
    return this.#seen;
  }

  /** Something waits to be taken, or may be there to be read. */
  get mayHold(): boolean {
    return this.#stale || this.#waiting.length > 0;
  }

  markStale(): void {
    this.#stale = true;
  }

  async refresh(): Promise<void> {
    if (!this.#stale) return;
    this.#stale = false;
    for (const message of await this.#read(this.#seen)) {
      this.#seen = message.seq;
      if (!this.#taken.has(message.seq)) this.#waiting.push(message);
    }
  }

  /** Those of a kind (and name) that wait, oldest first. */
  waiting(kind: MessageKind, name?: string): readonly InboxMessage[] {
    return this.#waiting.filter((message) => message.kind === kind && (name === undefined || message.name === name));
  }

  take(message: InboxMessage): void {
    this.#waiting = this.#waiting.filter((other) => other !== message);
  }
}
