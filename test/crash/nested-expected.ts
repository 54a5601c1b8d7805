/*
 * What nested.yaml must do and give, worked out in plain TypeScript beside it: a killed run is right
 * if it agrees with this, however often it died.
 */
export interface ExpectedCall {
  /** The idempotency key without the run: `cellStep#2.1.0:forward`. */
  readonly place: string;
  readonly attempt: number;
  readonly input: { label: string; value: number; failures: number; takesMs: number };
}

export interface Expected {
  /**
   * Every call, in no order. A call that was killed is repeated with the same attempt; none other is,
   * and there are none but these.
   */
  readonly calls: ExpectedCall[];
  readonly output: unknown;
}

const cells = [10, 20, 30];

const answer = (value: number): number => value * 2 + 1;

export function expectedOfNested(orders: readonly number[]): Expected {
  const calls: ExpectedCall[] = [];

  /** A step that succeeds after its planned failures. Gives its value. */
  const step = (
    id: string,
    occurrence: string,
    label: string,
    value: number,
    { failures = 0, takesMs = 0 } = {},
  ): number => {
    for (let attempt = 1; attempt <= failures + 1; attempt += 1) {
      calls.push({ place: `${id}#${occurrence}:forward`, attempt, input: { label, value, failures, takesMs } });
    }
    return answer(value);
  };

  const sumsOf = (order: number, turn: number): { sum: number; cells: (number | string)[] } => {
    let sum = 0;
    let last: (number | string)[] = [];
    for (const iteration of [0, 1]) {
      last = cells.map((cell, place) => {
        if (cell === 30 && iteration === 1) return 'Odd';
        if (cell === 20 && iteration === 1) return 'skipped';
        const failures = cell === 10 ? 1 : 0;
        const value = step(
          'cellStep',
          `${turn}.${iteration}.${place}`,
          `cell ${order}/${iteration}/${cell}`,
          cell + order,
          { failures },
        );
        sum += value;
        return value;
      });
    }
    return { sum, cells: last };
  };

  const begin = step('begin', '0', 'begin', 1);
  const rows = orders.map((order, turn) => {
    const occurrence = String(turn);
    let climb = 0;
    for (let iteration = 0; climb < 7; iteration += 1) {
      climb = step('count', `${turn}.${iteration}`, `climb ${order}`, iteration + 1, { takesMs: 1 });
    }
    const first = step('first', occurrence, `first ${order}`, order, { failures: order % 3 });
    const left = step('second', occurrence, `second ${order}`, first + 1, { takesMs: 2 });
    for (const attempt of [1, 2]) {
      const input = { label: `doomed ${order}`, value: 0, failures: 99, takesMs: 0 };
      calls.push({ place: `doomed#${occurrence}:forward`, attempt, input });
    }
    const rescued = `Planned 2 rescued ${order}`;
    const right = { label: rescued, value: step('rescue', occurrence, rescued, order) };
    const sums = sumsOf(order, turn);
    const even = order % 2 === 0 ? step('even', occurrence, `even ${order}`, order) : 'odd';
    return { order, climb, left, right, sums, even };
  });
  return { calls, output: { begin, rows } };
}
