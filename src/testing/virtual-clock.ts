import type { Clock, Timer } from '../common/index.js';
import { isEvaluating } from '../expression/index.js';

/**
 * Time that stands still until a test moves it: a wait of two weeks takes no time at all.
 *
 *     const clock = new VirtualClock();
 *     const engine = createEngine({ storage: new MemoryStorage(), clock, … });
 *     const run = await clock.until(engine.result(id));
 */
export class VirtualClock implements Clock {
  readonly #startedAt: number;
  #now: number;
  /** In order of their time; of the same time, in the order in which they were set. */
  readonly #timers: Pending[] = [];
  /** By what `now()` shows, which a clock made from this one may set. In the order in which they were set. */
  readonly #alarms: Pending[] = [];
  #set = 0;

  /** @param startAt epoch milliseconds; default 2030-01-01T00:00:00Z */
  constructor(startAt = Date.UTC(2030, 0, 1)) {
    this.#startedAt = startAt;
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, delayMs), callback, place: (this.#set += 1) };
    const later = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
    return { cancel: () => remove(this.#timers, timer) };
  }

  setAlarm(at: number, callback: () => void): Timer {
    const alarm = { at, callback, place: (this.#set += 1) };
    this.#alarms.push(alarm);
    return { cancel: () => remove(this.#alarms, alarm) };
  }

  /** When the next timer fires; undefined where none is set. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** The next timer or alarm, and when that is in virtual time. */
  #next(): { readonly at: number; readonly pending: Pending; readonly among: Pending[] } | undefined {
    const [timer] = this.#timers;
    let next = timer && { at: timer.at, pending: timer, among: this.#timers };
    const aheadMs = this.now() - this.#now;
    for (const alarm of this.#alarms) {
      const at = Math.max(this.#now, alarm.at - aheadMs);
      const isEarlier = next === undefined || at < next.at || (at === next.at && alarm.place < next.pending.place);
      if (isEarlier) next = { at, pending: alarm, among: this.#alarms };
    }
    return next;
  }

  /** Lets everything run that needs no time to go by. */
  rest(): Promise<void> {
    return settle();
  }

  /** Moves time to the next timer and fires it, then rests. Answers whether there was one. */
  async fireNext(): Promise<boolean> {
    if (this.#next() === undefined) return false;
    await this.#fire();
    return true;
  }

  /** Moves time to a point before or at which the next timer is set, without firing it. */
  moveTo(time: number): void {
    if (time < this.#now || time > (this.nextAt ?? time)) throw new RangeError('time is not free to be moved there');
    this.#now = time;
  }

  /** Moves time by so much, firing what becomes due on the way, each at its own time. */
  async advance(byMs: number): Promise<void> {
    const end = this.#now + byMs;
    await settle();
    for (;;) {
      const next = this.#next();
      if (next === undefined || next.at > end) break;
      await this.#fire();
    }
    this.#now = end;
    await settle();
  }

  /** Moves time from timer to timer until the promise settles. @throws where nothing is left to wait for */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => void (settled = true);
    promise.then(mark, mark);
    for (;;) {
      await settle();
      if (settled) return promise;
      if (this.#next() === undefined) {
        // Work outside of virtual time (a file, a database) may still be under way.
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      await this.#fire();
    }
  }

  async #fire(): Promise<void> {
    const next = this.#next();
    if (next === undefined) return;
    remove(next.among, next.pending);
    this.#now = Math.max(this.#now, next.at);
    next.pending.callback();
    await settle();
  }
}

/** What waits for its time. */
interface Pending {
  readonly at: number;
  readonly callback: () => void;
  /** Tells which of several at the same time was set first. */
  readonly place: number;
}

function remove(among: Pending[], pending: Pending): void {
  const index = among.indexOf(pending);
  if (index >= 0) among.splice(index, 1);
}

/** Rounds of the event loop without an evaluation after which whatever runs on promises has come to rest. */
const quietRounds = 10;

/** A formula over many rows takes many rounds, in which it alone is at work; time stands still until it has its value. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < quietRounds; quiet = isEvaluating() ? 0 : quiet + 1) await eventLoopRound();
}

/** Resolves once everything has run that could run at the moment of the call. */
export function eventLoopRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
