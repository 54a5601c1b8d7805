import type { InboxMessage, JournalRow } from '../storage/index.js';

/** The kinds of messages that a run can get. */
export type MessageKind = 'signal' | 'cancel' | 'child-ended' | 'operator';

/** A message that something waits for, and how that takes it. */
export interface Offer {
  readonly message: InboxMessage;
  /** Answers whether something became ready by it. */
  readonly take: () => boolean | Promise<boolean>;
}

export interface MessageQuery {
  readonly kind: MessageKind;
  /** Of a signal, its name; of a child's end, the child. */
  readonly name?: string;
  /** Only messages with a higher `seq`. */
  readonly after?: number;
  /** Only messages that came then or earlier. */
  readonly until?: number;
}

/** Kinds of entries that say, by `inboxSeq`, which message was taken. */
const taking: ReadonlySet<string> = new Set([
  'signal-consumed',
  'cancel-requested',
  'child-settled',
  'child-unwound',
  'operator-decided',
]);

/** Messages that are looked for together, in the order of their arrival; those before `head` are taken. */
interface Queue {
  readonly messages: InboxMessage[];
  head: number;
}

/** What others have sent to a run and nothing has taken yet. */
export class Inbox {
  readonly #read: (afterSeq: number) => Promise<readonly InboxMessage[]>;
  readonly #taken = new Set<number>();
  readonly #queues = new Map<string, Queue>();
  #waiting = 0;
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
    return this.#stale || this.#waiting > 0;
  }

  markStale(): void {
    this.#stale = true;
  }

  async refresh(): Promise<void> {
    if (!this.#stale) return;
    this.#stale = false;
    for (const message of await this.#read(this.#seen)) {
      this.#seen = message.seq;
      if (!this.#taken.has(message.seq)) this.#add(message);
    }
  }

  /** The oldest that waits. */
  first({ kind, name, after = 0, until = Number.POSITIVE_INFINITY }: MessageQuery): InboxMessage | undefined {
    const queue = this.#queues.get(queueOf(kind, name));
    if (queue === undefined) return undefined;
    const { messages } = queue;
    for (let index = Math.max(queue.head, firstAfter(messages, after)); index < messages.length; index += 1) {
      const message = messages[index];
      if (message !== undefined && message.at <= until && !this.#taken.has(message.seq)) return message;
    }
    return undefined;
  }

  take(message: InboxMessage): void {
    this.#taken.add(message.seq);
    this.#waiting -= 1;
    const queue = this.#queues.get(queueOf(message.kind, message.name));
    if (queue === undefined) return;
    while (queue.head < queue.messages.length && this.#taken.has(queue.messages[queue.head]?.seq ?? 0)) queue.head += 1;
  }

  #add(message: InboxMessage): void {
    const key = queueOf(message.kind, message.name);
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, { messages: [message], head: 0 });
    else queue.messages.push(message);
    this.#waiting += 1;
  }
}

/** What an operator says is looked for whatever it is. */
function queueOf(kind: string, name: string | null | undefined): string {
  return kind === 'signal' || kind === 'child-ended' ? `${kind}\n${name ?? ''}` : kind;
}

/** Index of the first message with a higher `seq`. */
function firstAfter(messages: readonly InboxMessage[], seq: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((messages[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
