/** A run's place in the order of claims: by due time, then by insertion. */
export interface Due {
  readonly dueAt: number;
  readonly run: number;
}

/**
 * Runs in the order in which they become due: a binary heap, so that the first is at hand however many
 * there are. A run whose time changes is put in again; its old place is dropped when it comes to the front.
 */
export class DueQueue {
  readonly #heap: Due[] = [];
  readonly #isCurrent: (due: Due) => boolean;

  constructor(isCurrent: (due: Due) => boolean) {
    this.#isCurrent = isCurrent;
  }

  put(due: Due): void {
    const heap = this.#heap;
    let index = heap.push(due) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) break;
      index = parent;
    }
  }

  first(): Due | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || this.#isCurrent(first)) return first;
      this.#dropFirst();
    }
  }

  #dropFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const child = isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
      if (!this.#swapIfBefore(child, index)) break;
      index = child;
    }
  }

  /** Swaps the two if the one at `index` belongs before the one at `other`. */
  #swapIfBefore(index: number, other: number): boolean {
    const [a, b] = [this.#heap[index], this.#heap[other]];
    if (a === undefined || b === undefined || !isBefore(a, b)) return false;
    this.#heap[index] = b;
    this.#heap[other] = a;
    return true;
  }
}

export function isBefore(a: Due | undefined, b: Due | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.run < b.run);
}
