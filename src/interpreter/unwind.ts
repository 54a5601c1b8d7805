import { type EarlierPass, callUntilDone, idempotencyKeyOf } from './call.js';
import type { Debt, StepDebt } from './debts.js';
import type { Frame } from './frame.js';
import type { ChildUnwound } from './port.js';
import { Failure, type RunError } from './run-error.js';

/** How an unwind came out. `partial`: a child kept what it had done; `keptBy` names those. */
export interface Unwound {
  readonly status: 'completed' | 'not-applicable' | 'abandoned' | 'partial';
  readonly keptBy: readonly string[];
}

/** How undoing one debt came out. */
type Undone =
  | { readonly kind: 'undone' | 'not-applicable' | 'kept' }
  | { readonly kind: 'failed'; readonly error: RunError | undefined };

/**
 * Undoes what is owed, one after the other, the latest begun first. One that fails for good stops
 * everything until an operator decides: what came before it must not be undone past it.
 *
 * @param root where the unwind runs: a scope that nothing has aborted
 */
export async function unwind(root: Frame): Promise<Unwound> {
  const { context, debts } = root.services;
  const owed = debts.owed();
  if (owed.length === 0) return { status: 'not-applicable', keptBy: [] };
  const keptBy: string[] = [];
  let undone = false;
  for (const [index, debt] of owed.entries()) {
    const undoing = new Undoing(debt, debt.frame.with({ scope: root.scope }));
    const end = await undoing.settle();
    if (end === 'undone') undone = true;
    if (end === 'kept' && debt.kind === 'child') keptBy.push(debt.run);
    if (end !== 'abandoned') continue;
    for (const rest of owed.slice(index)) {
      context.note({
        kind: 'compensation-skipped',
        place: rest.frame.place(rest.key, ''),
        payload: { why: 'abandoned' },
      });
    }
    return { status: 'abandoned', keptBy };
  }
  if (keptBy.length > 0) return { status: 'partial', keptBy };
  return { status: undone ? 'completed' : 'not-applicable', keptBy };
}

/** One debt, undone in as many passes as operators ask for. */
class Undoing {
  readonly #debt: Debt;
  readonly #frame: Frame;
  /** Of the reversal, over all passes. */
  #earlier: EarlierPass | undefined;

  constructor(debt: Debt, frame: Frame) {
    this.#debt = debt;
    this.#frame = frame;
  }

  async settle(): Promise<'undone' | 'not-applicable' | 'kept' | 'abandoned'> {
    const { context } = this.#frame.services;
    let how: 'unwind' | 'resume' = 'unwind';
    for (let pass = 0; ; pass += 1) {
      const end =
        this.#debt.kind === 'step' ? await this.#reverse(this.#debt, pass) : await this.#unwindChild(pass, how);
      if (end.kind !== 'failed') return end.kind;
      const operator = context.operator(this.#frame.place(this.#debt.key, `operator.${pass}`), end.error);
      await this.#frame.wait(operator);
      if (operator.outcome === 'abandon') {
        if (this.#debt.kind === 'child') await this.#child(pass, 'abandon');
        return 'abandoned';
      }
      how = 'resume';
    }
  }

  async #reverse({ key, reversal, result, error, frame }: StepDebt, pass: number): Promise<Undone> {
    // Its own: where the step stands in an `onError`, the error handled there is none of it.
    const variables = { result: () => result?.value ?? null, error: () => error };
    try {
      const end = await callUntilDone({
        key,
        call: reversal,
        frame: this.#frame.with({ variables }),
        direction: 'compensate',
        ...(this.#earlier && { earlier: this.#earlier }),
        inputPass: pass,
        reversal: {
          result: result?.copy() ?? null,
          forwardIdempotencyKey: idempotencyKeyOf(frame, key, 'forward'),
          error: error ?? null,
        },
      });
      if (end.ok) return { kind: 'undone' };
      this.#earlier = end.pass;
      return { kind: 'failed', error: end.error };
    } catch (failure) {
      // Its input could not be had: no reversal was called, and none can be before somebody looks.
      if (!(failure instanceof Failure)) throw failure;
      return { kind: 'failed', error: failure.error };
    }
  }

  async #unwindChild(pass: number, how: 'unwind' | 'resume'): Promise<Undone> {
    const end = await this.#child(pass, how);
    return end === 'stuck' ? { kind: 'failed', error: undefined } : { kind: end };
  }

  async #child(pass: number, how: 'unwind' | 'resume' | 'abandon'): Promise<ChildUnwound> {
    if (this.#debt.kind !== 'child') throw new TypeError('fault in the interpreter: a step is no child');
    const { context } = this.#frame.services;
    const place = this.#frame.place(this.#debt.key, `unwind.${how}.${pass}`);
    const handle = context.unwindChild(place, this.#debt.run, how);
    await this.#frame.wait(handle);
    return handle.outcome;
  }
}
