import type { Place } from '../interpreter/index.js';
import type { InboxMessage, JournalRow, NewRun } from '../storage/index.js';
import type { EntryKind } from './entries.js';
import { RecordedEntries } from './recorded-entries.js';

/** What a unit holds beside its entries; it is written in the same transaction. */
export interface Unit {
  readonly entries: readonly JournalRow[];
  readonly children: readonly NewRun[];
  readonly posts: readonly Post[];
  readonly reopen: readonly { readonly runId: string; readonly dueAt: number }[];
}

export interface Post {
  readonly runId: string;
  readonly message: Omit<InboxMessage, 'seq'>;
}

/** A unit is cut when it has grown so large, at a point that a replay cannot see. */
const maxUnitEntries = 1000;
const maxUnitBytes = 1024 * 1024;

/**
 * A run's journal as one walk sees it: the entries of earlier lives that the walk has not met yet, and
 * those of its own that are not committed yet.
 */
export class Journal {
  readonly #now: () => number;
  readonly #recorded = new RecordedEntries();
  #lastSeq: number;
  #bytes = 0;
  #entries: JournalRow[] = [];
  #children: NewRun[] = [];
  #posts: Post[] = [];
  #reopen: { readonly runId: string; readonly dueAt: number }[] = [];

  constructor(rows: readonly JournalRow[], now: () => number) {
    this.#now = now;
    this.#lastSeq = rows.at(-1)?.seq ?? 0;
    // Of several starts of an attempt the first one holds the input.
    for (const row of rows) this.#recorded.add(row);
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The recorded entry of that kind at that place, which is met once. */
  take(kind: EntryKind, place: Place): JournalRow | undefined {
    return this.#recorded.take(kind, place);
  }

  peek(kind: EntryKind, place: Place): JournalRow | undefined {
    return this.#recorded.peek(kind, place);
  }

  /** Answers the new entry's `seq`. */
  append(kind: EntryKind, place: Place, payload: string | null): number {
    this.#lastSeq += 1;
    this.#entries.push({ seq: this.#lastSeq, kind, ...place, at: this.#now(), payload });
    this.#bytes += payload?.length ?? 0;
    return this.#lastSeq;
  }

  /** Lets an entry of this walk be found again, as those of earlier ones are. */
  remember(): void {
    const row = this.#entries.at(-1);
    if (row !== undefined) this.#recorded.add(row);
  }

  addChild(child: NewRun): void {
    this.#children.push(child);
  }

  /** A message to another run. */
  post(post: Post): void {
    this.#posts.push(post);
  }

  reopen(runId: string): void {
    this.#reopen.push({ runId, dueAt: this.#now() });
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.#posts.length === 0 && this.#reopen.length === 0;
  }

  get isLarge(): boolean {
    return this.#entries.length >= maxUnitEntries || this.#bytes >= maxUnitBytes;
  }

  /** What has piled up since the last unit; the next one begins empty. */
  takeUnit(): Unit {
    const unit = { entries: this.#entries, children: this.#children, posts: this.#posts, reopen: this.#reopen };
    this.#entries = [];
    this.#children = [];
    this.#posts = [];
    this.#reopen = [];
    this.#bytes = 0;
    return unit;
  }

  /**
   * A unit was refused: it is as if it had not been taken, without its last so many entries and messages.
   * Nothing may have been appended meanwhile.
   */
  putBack(unit: Unit, dropped: number, droppedPosts: number): void {
    this.#entries = unit.entries.slice(0, unit.entries.length - dropped);
    this.#children = [...unit.children];
    this.#posts = unit.posts.slice(0, unit.posts.length - droppedPosts);
    this.#reopen = [...unit.reopen];
    this.#bytes = this.#entries.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0);
    this.#lastSeq -= dropped;
  }
}

/** The place of entries that belong to the run as a whole. */
export const runPlace: Place = { step: null, occurrence: '0', aspect: '' };
