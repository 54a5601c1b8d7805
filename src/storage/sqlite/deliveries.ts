import type { Clock } from '../../common/index.js';

/** So long the event loop may be kept by what follows from answers, before it turns. */
const longestMs = 4;
/** So many are answered before the clock is looked at: waiting for all that one of them does costs as much as it does. */
const atOnce = 8;

/**
 * Answers those who wait, in their order, some at a time with all that they do at once (a run walks on, its next step is
 * called); the event loop turns every few milliseconds, however many were made durable by one sync.
 */
export class Deliveries {
  readonly #clock: Clock;
  readonly #onDone: () => void;
  #waiting: (() => void)[] = [];
  #next = 0;
  #isUnderWay = false;

  /** @param onDone told when everybody was answered */
  constructor(clock: Clock, onDone: () => void) {
    this.#clock = clock;
    this.#onDone = onDone;
  }

  get areUnderWay(): boolean {
    return this.#isUnderWay;
  }

  add(answer: () => void): void {
    this.#waiting.push(answer);
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#deliverInNextTurn();
  }

  /** Everybody at once: the end has come. */
  flush(): void {
    for (let answer = this.#take(); answer !== undefined; answer = this.#take()) answer();
  }

  #deliver(since: number): void {
    for (let answered = 0; answered < atOnce; answered += 1) {
      const answer = this.#take();
      if (answer === undefined) {
        this.#isUnderWay = false;
        return this.#onDone();
      }
      answer();
    }
    // What follows are microtasks; `nextTick` comes after all of them, and those that they make.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#clock.monotonic() - since < longestMs) this.#deliver(since);
        else this.#deliverInNextTurn();
      }),
    );
  }

  #deliverInNextTurn(): void {
    setImmediate(() => this.#deliver(this.#clock.monotonic()));
  }

  #take(): (() => void) | undefined {
    const answer = this.#waiting[this.#next];
    this.#next += 1;
    if (this.#next >= this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    return answer;
  }
}
