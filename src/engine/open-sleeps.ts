import { type Clock, type Timer, setAlarm } from '../common/index.js';
import type { Handle, Place, SleepOutcome, SleepReason } from '../interpreter/index.js';
import type { Journal } from './journal.js';
import { type Due, earlierOf } from './due.js';
import { JournalHandle } from './journal-handle.js';
import type { Readiness } from './readiness.js';

interface OpenSleep {
  readonly place: Place;
  readonly until: number;
  readonly why: SleepReason;
}

/** The timers of a run. A due time alone makes nothing ready: `timer-fired` is appended first. */
export class OpenSleeps {
  readonly #journal: Journal;
  readonly #readiness: Readiness;
  readonly #open = new Map<JournalHandle<SleepOutcome>, OpenSleep>();
  #hasRunTimedOut = false;

  constructor(journal: Journal, readiness: Readiness) {
    this.#journal = journal;
    this.#readiness = readiness;
  }

  begin(place: Place, until: number, why: SleepReason): Handle<SleepOutcome> {
    const handle = new JournalHandle<SleepOutcome>();
    const fired = this.#journal.take('timer-fired', place);
    if (fired !== undefined) {
      if (why === 'run-deadline') this.#hasRunTimedOut = true;
      handle.settle(fired.seq, () => 'fired');
    } else this.#open.set(handle, { place, until, why });
    return handle;
  }

  /** Ended by the entry with this `seq`. Answers whether the handle was one of these. */
  abort(handle: Handle<unknown>, seq: number): boolean {
    if (!(handle instanceof JournalHandle) || !this.#open.delete(handle)) return false;
    this.#readiness.settle(handle, seq, () => 'aborted');
    return true;
  }

  /** The earliest that is due. */
  due(now: number): Due | undefined {
    let earliest: Due | undefined;
    for (const [handle, sleep] of this.#open) {
      if (sleep.until <= now) earliest = earlierOf(earliest, this.#dueOf(handle, sleep));
    }
    return earliest;
  }

  /** All that were due before `before`, earliest first, up to the first deadline. */
  dueBefore(before: number): readonly Due[] {
    const due = [...this.#open]
      .filter(([, { until }]) => until < before)
      .sort(([, a], [, b]) => a.until - b.until || Number(isDeadline(b.why)) - Number(isDeadline(a.why)));
    const end = due.findIndex(([, { why }]) => isDeadline(why));
    return due.slice(0, end < 0 ? due.length : end).map(([handle, sleep]) => this.#dueOf(handle, sleep));
  }

  /** The deadline of the run has come, in this walk or an earlier one. */
  get hasRunTimedOut(): boolean {
    return this.#hasRunTimedOut;
  }

  #dueOf(handle: JournalHandle<SleepOutcome>, { place, until, why }: OpenSleep): Due {
    const settle = (seq: number): void => {
      this.#open.delete(handle);
      if (why === 'run-deadline') this.#hasRunTimedOut = true;
      this.#readiness.settle(handle, seq, () => 'fired');
    };
    return { place, at: until, why: isDeadline(why) ? 'timeout' : why, isDeadline: isDeadline(why), settle };
  }

  get backsOff(): boolean {
    for (const { why } of this.#open.values()) if (why === 'back-off') return true;
    return false;
  }

  /** Infinite where there is none. */
  get earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { until } of this.#open.values()) earliest = Math.min(earliest, until);
    return earliest;
  }
}

function isDeadline(why: SleepReason): boolean {
  return why === 'timeout' || why === 'run-deadline';
}

/** Rings once at a time, while handlers run; a parked run is woken by its row. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #timer: Timer | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  set(time: number): void {
    this.cancel();
    if (time !== Number.POSITIVE_INFINITY) this.#timer = setAlarm(this.#clock, time, this.#ring);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
