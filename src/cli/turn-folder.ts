import type { RunEvent, RunEventType } from '../engine/index.js';

/** Of an item in a loop so many turns are told one by one. */
const mostTurns = 20;
/** Then how many there were, so often. */
const everyMs = 5000;

/** What is counted only. What goes wrong is always told. */
const folded: ReadonlySet<RunEventType> = new Set(['step:started', 'step:completed', 'step:skipped']);

const ends: ReadonlySet<RunEventType> = new Set(['workflow:completed', 'workflow:failed', 'workflow:cancelled']);

interface Item extends Pick<RunEvent, 'run' | 'workflow'> {
  readonly step: string;
  readonly turns: Set<string>;
  completed: number;
  skipped: number;
  told: number;
  toldAt: number;
}

/** Decides which turns of loops are told one by one, and counts the others. */
export class TurnFolder {
  readonly #items = new Map<string, Item>();

  /** Whether an event is only counted. */
  folds({ type, run, workflow, step, occurrence, at }: RunEvent): boolean {
    if (ends.has(type)) this.#forget(run);
    if (step === null || occurrence === null || !folded.has(type)) return false;
    const key = `${run}\n${step}`;
    const item = this.#items.get(key) ?? {
      run,
      workflow,
      step,
      turns: new Set(),
      completed: 0,
      skipped: 0,
      told: 0,
      toldAt: at,
    };
    this.#items.set(key, item);
    // Turns that are told are few enough to be remembered; what was begun before them is told to its end.
    if (item.turns.size < mostTurns) item.turns.add(occurrence);
    if (type === 'step:completed') item.completed += 1;
    if (type === 'step:skipped') item.skipped += 1;
    if (item.turns.has(occurrence)) item.told = item.completed + item.skipped;
    return !item.turns.has(occurrence);
  }

  /** What was counted and not yet told: of items whose time it is, or all of it before something else is told. */
  news(
    at: number,
    all: boolean,
  ): (Pick<RunEvent, 'run' | 'workflow'> & { readonly step: string; readonly text: string })[] {
    return [...this.#items.values()]
      .filter((item) => item.completed + item.skipped !== item.told && (all || at - item.toldAt >= everyMs))
      .map((item) => {
        item.told = item.completed + item.skipped;
        item.toldAt = at;
        const { run, workflow, step, completed, skipped } = item;
        return {
          run,
          workflow,
          step,
          text: `${completed} completed${skipped === 0 ? '' : `, ${skipped} skipped`} so far`,
        };
      });
  }

  /** A worker lives long. */
  #forget(run: string): void {
    for (const [key, item] of this.#items) if (item.run === run) this.#items.delete(key);
  }
}
