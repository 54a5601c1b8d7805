import type { JsonText } from '../common/index.js';
import type { Frame } from './frame.js';
import type { Reversal } from './plan.js';
import type { AttemptOutcome, BegunHandle, ChildHandle } from './port.js';
import type { RunError } from './run-error.js';

/** A step that has started and has a reversal, or a child run. */
export type Debt = StepDebt | ChildDebt;

export interface StepDebt {
  readonly kind: 'step';
  readonly key: string;
  readonly reversal: Reversal;
  /** Of its first attempt: where it stands among all that was begun. */
  readonly handle: BegunHandle<AttemptOutcome>;
  /** Where the step stood when it started: its reversal sees `$steps` and the loop variables as they were. */
  readonly frame: Frame;
  /** Of the forward step; undefined where it failed or its outcome is unknown. */
  result: JsonText | undefined;
  error: RunError | undefined;
  /** Some attempt may have had an effect. */
  owed: boolean;
}

export interface ChildDebt {
  readonly kind: 'child';
  readonly key: string;
  readonly handle: ChildHandle;
  readonly frame: Frame;
  readonly run: string;
}

/**
 * What would have to be undone if the run failed now. Built up anew by each walk. A resumed run's walk meets what is
 * begun anew among what was begun before, so that the order is that of the entries and not of the walk.
 */
export class Debts {
  readonly #debts: Debt[] = [];
  #forgiven = false;

  beginStep(key: string, reversal: Reversal, frame: Frame, handle: BegunHandle<AttemptOutcome>): StepDebt {
    const open = { result: undefined, error: undefined, owed: false };
    const debt: StepDebt = { kind: 'step', key, handle, reversal, frame, ...open };
    this.#debts.push(debt);
    return debt;
  }

  beginChild(key: string, frame: Frame, handle: ChildHandle): void {
    this.#debts.push({ kind: 'child', key, handle, frame, run: handle.run });
  }

  /** A pivot was reached: nothing of the run is undone any more, what came before it included. */
  forgive(): void {
    this.#forgiven = true;
  }

  get forgiven(): boolean {
    return this.#forgiven;
  }

  /** What is owed now, the latest begun first. */
  owed(): readonly Debt[] {
    if (this.#forgiven) return [];
    return this.#debts
      .flatMap((debt) => (debt.handle.begun === undefined ? [] : [{ debt, begun: debt.handle.begun }]))
      .filter(({ debt }) => debt.kind === 'child' || debt.owed)
      .sort((one, other) => other.begun - one.begun)
      .map(({ debt }) => debt);
  }
}

/** Keeps what an attempt of the forward step came to. */
export function settleAttempt(debt: StepDebt, outcome: AttemptOutcome): void {
  if (outcome.ok) {
    debt.result = outcome.value;
    debt.error = undefined;
    debt.owed = true;
    return;
  }
  debt.error = outcome.error;
  if (outcome.effect !== 'none' && !provesNoEffect(debt.reversal, outcome.error)) debt.owed = true;
}

/** Of a call that was cut short, what its handler threw says so too. */
function provesNoEffect({ exceptErrors }: Reversal, { name, attempt, cause }: RunError): boolean {
  if (exceptErrors.includes(name)) return true;
  return name === 'Cancelled' && attempt !== null && cause !== undefined && exceptErrors.includes(cause.name);
}
