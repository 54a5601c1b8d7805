import type { Clock, Timer } from '../common/index.js';
import type { Handle, Place, SleepOutcome, SleepReason } from '../interpreter/index.js';
import type { Journal } from './journal.js';
import type { TimedOut } from './open-gates.js';
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

  constructor(journal: Journal, readiness: Readiness) {
    this.#journal = journal;
    this.#readiness = readiness;
  }

  begin(place: Place, until: number, why: SleepReason): Handle<SleepOutcome> {
    const handle = new JournalHandle<SleepOutcome>();
    const fired = this.#journal.take('timer-fired', place);
    if (fired !== undefined) handle.settle(fired.seq, () => 'fired');
    else this.#open.set(handle, { place, until, why });
    return handle;
  }

  /** Ended by the entry with this `seq`. Answers whether the handle was one of these. */
  abort(handle: Handle<unknown>, seq: number): boolean {
    if (!(handle instanceof JournalHandle) || !this.#open.delete(handle)) return false;
    this.#readiness.settle(handle, seq, () => 'aborted');
    return true;
  }

  /**
   * Fires all that is due before `before` and is no deadline, earliest first; answers whether there was any.
   */
  fireDue(now: number, before: number): boolean {
    if (this.earliest > now) return false;
    const due = this.#due(now).filter(([, { why, until }]) => !isDeadline(why) && until < before);
    for (const [handle, { place, why }] of due) {
      this.#open.delete(handle);
      const seq = this.#journal.append('timer-fired', place, JSON.stringify({ why }));
      this.#readiness.settle(handle, seq, () => 'fired');
    }
    return due.length > 0;
  }

  /** Deadlines of blocks and of the run that are due: to be told so once it is certain that nothing came before. */
  dueDeadlines(now: number): readonly TimedOut[] {
    return this.#due(now)
      .filter(([, { why }]) => isDeadline(why))
      .map(([handle, { place, until }]) => ({
        place,
        at: until,
        settle: (seq: number) => {
          this.#open.delete(handle);
          this.#readiness.settle(handle, seq, (): SleepOutcome => 'fired');
        },
      }));
  }

  #due(now: number): [JournalHandle<SleepOutcome>, OpenSleep][] {
    return [...this.#open].filter(([, { until }]) => until <= now).sort(([, a], [, b]) => a.until - b.until);
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
    if (time !== Number.POSITIVE_INFINITY) this.#timer = this.#clock.setTimer(time - this.#clock.now(), this.#ring);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
