import { AbsentOperand, Fault, tooMuch } from './fault.js';
import type { Surroundings } from './formula.js';
import { type JsonataNode, internalName } from './jsonata-tree.js';
import { limits } from './limits.js';
import { readProcessorTime, readTime, turns } from './turn.js';
import { isAbsent } from './value-names.js';
import { Scales } from './weight.js';

/** What JSONata hands to hooks and to its functions as their environment. */
export interface Frame {
  readonly base: { evaluation?: Evaluation };
  lookup(name: string | symbol): unknown;
}

/** The variable under which an evaluation finds itself. */
export const evaluationVariable = internalName('evaluation');

export function evaluationOf(frame: Frame): Evaluation {
  return (frame.base.evaluation ??= frame.lookup(evaluationVariable) as Evaluation);
}

/** How many nodes are entered between two looks at the clock. */
const nodesPerLook = 16;

/** Whether the value was made at this node, rather than read from somewhere. */
function isMade(node: JsonataNode, value: unknown): boolean {
  switch (node.type) {
    case 'unary':
    case 'binary':
    case 'function':
    case 'apply':
      return true;
    default:
      return Array.isArray(value) ? 'sequence' in value : node.group !== undefined;
  }
}

interface Queue {
  of: object;
  /** Settles when the sibling before has been left. */
  tail: Promise<void> | undefined;
}

/**
 * One evaluation of one formula: keeps it within the limits, and refuses absent operands. JSONata calls
 * `enter` and `leave` around each node (hooks that it does not document; tests pin them), the wrapped
 * functions call `pause` and `weigh`.
 */
export class Evaluation {
  readonly #scales: Scales;
  /** By the clock, in the turns before this one; and when this one began. */
  #usedMs = 0;
  #since = 0;
  /** The same of the processor, whose time is dear to read: from the first look in a turn on. */
  #computedMs = 0;
  #computingSince: number | undefined;
  #nodesUntilLook = nodesPerLook;
  #calls = 0;
  #siblings: Queue | undefined;
  readonly #leaving: (() => void)[] = [];

  constructor(
    readonly surroundings: Surroundings,
    options: { hasTransform: boolean },
  ) {
    this.#scales = new Scales(!options.hasTransform);
  }

  enter(node: JsonataNode, input: unknown): Promise<void> | undefined {
    if (node.type === 'wildcard') {
      refuseManyLists(input);
      hideFlags(input);
    }
    const { mark } = node;
    const before = mark?.siblingOf ? this.#lineUp(mark.siblingOf) : undefined;
    if (before) return before.then(() => this.#begin(node));
    return this.#begin(node);
  }

  leave(node: JsonataNode, input: unknown, result: unknown): void {
    const { mark } = node;
    if (mark) {
      if (mark.call) this.leaveCall();
      if (mark.siblingOf) this.#leaving.pop()?.();
      if (mark.beforePredicate !== undefined && Array.isArray(input))
        refuseOtherPredicate(mark.beforePredicate, result);
      if (mark.required !== undefined && isAbsent(result)) throw new AbsentOperand(node, mark.required);
    }
    if ((typeof result === 'object' || typeof result === 'string') && isMade(node, result)) this.#scales.weigh(result);
  }

  /** To be called when its turn has come: time counts from here. */
  begin(): void {
    this.#since = readTime();
    this.#computingSince = undefined;
  }

  weigh(value: unknown): void {
    this.#scales.weigh(value);
  }

  enterCall(): void {
    if (++this.#calls <= limits.calls) return;
    throw new Fault('limit', `the formula's functions call one another more than ${limits.calls} deep`);
  }

  /** Not called after a failure, which ends the whole evaluation. */
  leaveCall(): void {
    this.#calls--;
  }

  /** To be called now and then: throws when the time is up, and gives a promise when others must have their turn. */
  pause(): Promise<void> | undefined {
    const now = this.look();
    if (!turns.isSliceOver(now)) return undefined;
    this.#usedMs += now - this.#since;
    this.#computedMs = this.#computed();
    return turns.rest(this).then(() => this.begin());
  }

  /** Throws when the time is up; for places that cannot wait. */
  look(): number {
    const now = readTime();
    this.#computingSince ??= readProcessorTime();
    // A process that was stopped meanwhile, or had to share its processor, is no sign of a loop.
    if (this.#usedMs + now - this.#since > limits.timeMs && this.#computed() > limits.timeMs) {
      throw new Fault('limit', 'the formula takes more than one second; check it for a loop without end');
    }
    return now;
  }

  /** Of the processor, so far, in milliseconds. */
  #computed(): number {
    const now = readProcessorTime();
    return this.#computedMs + now - (this.#computingSince ?? now);
  }

  #begin(node: JsonataNode): Promise<void> | undefined {
    if (node.mark?.call) this.enterCall();
    if (--this.#nodesUntilLook > 0) return undefined;
    this.#nodesUntilLook = nodesPerLook;
    return this.pause();
  }

  /**
   * JSONata starts all items of `[…]` and all values of `{…}` at the same time, in one go. They are made to
   * wait for one another: otherwise a list of 600 calls would look like a call 600 deep.
   */
  #lineUp(holder: object): Promise<void> | undefined {
    if (this.#siblings?.of !== holder) {
      this.#siblings = { of: holder, tail: undefined };
      queueMicrotask(() => {
        this.#siblings = undefined;
      });
    }
    const queue = this.#siblings;
    const before = queue.tail;
    let left = (): void => undefined;
    queue.tail = new Promise((resolve) => {
      left = resolve;
    });
    const begin = (): void => {
      this.#leaving.push(left);
    };
    if (before) return before.then(begin);
    begin();
    return undefined;
  }
}

/** Of lists of lists only: `[…][0]` after an index is the first of what it gave, after a condition the first that is kept. */
function refuseOtherPredicate(expected: 'index' | 'condition', result: unknown): void {
  const isIndex =
    typeof result === 'number' || (Array.isArray(result) && result.some((each) => typeof each === 'number'));
  if (isIndex === (expected === 'index') || (expected === 'index' && isAbsent(result))) return;
  throw new Fault(
    'failed',
    isIndex
      ? 'an index that is computed cannot stand before another predicate here; put brackets around what it gives: `(rows[$i])[0]`'
      : 'a condition over lists before another predicate must be seen to be one; compare it: `rows[kept = true][0]`',
  );
}

/** JSONata's own lists carry flags and a `push` of their own, and `.*` would take those for values. */
function hideFlags(input: unknown): void {
  if (!Array.isArray(input) || !('sequence' in input)) return;
  for (const key of Object.keys(input).slice(input.length)) Object.defineProperty(input, key, { enumerable: false });
}

/** JSONata copies what it has so far for each key of `object.*` that holds a list: quadratic work. */
function refuseManyLists(input: unknown): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return;
  const values = Object.values(input) as unknown[];
  if (values.length < 1000) return;
  const items = values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 0), 0);
  if (items * values.length > 100 * limits.weight) throw tooMuch();
}
