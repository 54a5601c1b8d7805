/** Something with a place in the journal once it is ready. */
interface Sequenced {
  readonly seq: number;
}

/** A binary heap by `seq`: the lowest comes out first. (Williams 1964, as in any textbook.) */
export class ReadyQueue<T extends Sequenced> {
  readonly #items: T[] = [];

  add(item: T): void {
    const items = this.#items;
    let index = items.push(item) - 1;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex];
      if (parent === undefined || parent.seq <= item.seq) break;
      items[index] = parent;
      index = parentIndex;
    }
    items[index] = item;
  }

  take(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = items[2 * index + 1];
      const right = items[2 * index + 2];
      const child = right !== undefined && left !== undefined && right.seq < left.seq ? right : left;
      if (child === undefined || child.seq >= last.seq) break;
      items[index] = child;
      index = child === right ? 2 * index + 2 : 2 * index + 1;
    }
    items[index] = last;
    return first;
  }
}
