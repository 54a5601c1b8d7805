import fc from 'fast-check';
import type { JsonObject, JsonValue } from 'runsheet';

/*
 * Random flows of all verbs. Items are drawn without ids, and get `s1`, `s2` … afterwards, so that a flow that fast-check
 * makes smaller stays a valid one.
 */

/** What the handler of one item does, in each of its attempts. */
export interface Conduct {
  /** How likely an attempt fails, in percent; it gets better with each run that is gone on with. */
  readonly fails: number;
  readonly how: 'plain' | 'final' | 'no-effect' | 'excepted';
  readonly takesMs: number;
  /** Ends early when it is told to. */
  readonly listens: boolean;
}

interface Called {
  readonly conduct: Conduct;
  readonly attempts: number;
  readonly timeoutMs?: number | undefined;
}

type Verb =
  | ({ readonly verb: 'step'; readonly reversal?: Called | undefined } & Called)
  | { readonly verb: 'set' }
  | { readonly verb: 'group'; readonly body: Item[]; readonly timeoutMs?: number | undefined }
  | { readonly verb: 'branch'; readonly arms: Item[][]; readonly otherwise: Item[] }
  | {
      readonly verb: 'parallel';
      readonly branches: Item[][];
      readonly join: 'all' | 'wait' | 'any' | 2;
      readonly timeoutMs?: number | undefined;
    }
  | {
      readonly verb: 'forEach';
      readonly count: number;
      readonly concurrency: number;
      readonly goOn: boolean;
      readonly body: Item[];
      readonly timeoutMs?: number | undefined;
    }
  | { readonly verb: 'doWhile' | 'doUntil'; readonly turns: number; readonly body: Item[] }
  | {
      readonly verb: 'waitFor';
      readonly timeoutMs?: number | undefined;
      readonly onTimeout: boolean;
      readonly filter: boolean;
      readonly remind?: (Called & { readonly everyMs: number }) | undefined;
    }
  | { readonly verb: 'sleep'; readonly ms: number }
  | { readonly verb: 'subWorkflow'; readonly child: number; readonly timeoutMs?: number | undefined }
  | { readonly verb: 'pivot' | 'complete' | 'fail' | 'rethrow' };

export type Item = Verb & { readonly when?: boolean; readonly onError?: Item[] | undefined };

export interface Flow {
  readonly body: Item[];
  readonly onFailure: Item[];
  readonly finally: Item[];
  readonly timeoutMs?: number | undefined;
}

/** The flow that is run, and those that it can start. */
export interface Family {
  readonly parent: Flow;
  readonly children: readonly Flow[];
  /** Where no step has a reversal a run that has failed can be gone on with. */
  readonly undoes: boolean;
}

const msOf = (...choices: number[]): fc.Arbitrary<number> => fc.constantFrom(...choices);
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq });

const conduct: fc.Arbitrary<Conduct> = fc.record({
  fails: fc.constantFrom(0, 0, 0, 0, 20, 50, 100),
  how: fc.constantFrom('plain', 'plain', 'plain', 'final', 'no-effect', 'excepted'),
  takesMs: msOf(0, 0, 700, 5000, 40_000),
  listens: fc.boolean(),
});

const called = fc.record({ conduct, attempts: fc.integer({ min: 1, max: 3 }), timeoutMs: maybe(msOf(600, 6000), 4) });

/** @param children how many flows can be started as one's own */
function itemsArbitrary(children: number, depth: number): fc.Arbitrary<Item[]> {
  const { body } = fc.letrec<{ item: Item; verb: Verb; body: Item[] }>((tie) => {
    const body = tie('body');
    const simple: fc.WeightedArbitrary<Verb>[] = [
      {
        weight: 7,
        arbitrary: fc
          .tuple(called, maybe(called, 4))
          .map(([forward, reversal]) => ({ verb: 'step' as const, ...forward, reversal })),
      },
      { weight: 1, arbitrary: fc.constant({ verb: 'set' as const }) },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant('sleep' as const), ms: msOf(1, 1000, 25_000) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('waitFor' as const),
          timeoutMs: maybe(msOf(5000, 60_000), 5),
          onTimeout: fc.boolean(),
          filter: fc.boolean(),
          remind: maybe(
            fc.tuple(called, msOf(2000, 20_000)).map(([call, everyMs]) => ({ ...call, everyMs })),
            1,
          ),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ verb: fc.constantFrom('pivot' as const, 'complete' as const, 'fail' as const) }),
      },
      { weight: 1, arbitrary: fc.constant({ verb: 'rethrow' as const }) },
    ];
    if (children > 0) {
      simple.push({
        weight: 3,
        arbitrary: fc.record({
          verb: fc.constant('subWorkflow' as const),
          child: fc.nat(children - 1),
          timeoutMs: maybe(msOf(3000, 40_000), 1),
        }),
      });
    }
    const timeoutMs = maybe(msOf(2000, 30_000), 1);
    const nested: fc.Arbitrary<Verb>[] = [
      fc.record({ verb: fc.constant('group' as const), body, timeoutMs }),
      fc.record({
        verb: fc.constant('branch' as const),
        arms: fc.array(body, { minLength: 1, maxLength: 2 }),
        otherwise: body,
      }),
      fc.record({
        verb: fc.constant('parallel' as const),
        branches: fc.array(body, { minLength: 2, maxLength: 3 }),
        join: fc.constantFrom('all' as const, 'wait' as const, 'any' as const, 2 as const),
        timeoutMs,
      }),
      fc.record({
        verb: fc.constant('forEach' as const),
        count: fc.integer({ min: 0, max: 3 }),
        concurrency: fc.integer({ min: 1, max: 3 }),
        goOn: fc.boolean(),
        body,
        timeoutMs,
      }),
      fc.record({
        verb: fc.constantFrom('doWhile' as const, 'doUntil' as const),
        turns: fc.integer({ min: 0, max: 3 }),
        body,
      }),
    ];
    return {
      verb: fc.oneof({ depthSize: 'small', maxDepth: depth }, fc.oneof(...simple), ...nested, fc.oneof(...simple)),
      item: fc
        .tuple(
          tie('verb'),
          maybe(fc.constant(true), 6),
          maybe(fc.oneof({ maxDepth: 2 }, fc.constant<Item[]>([]), body), 4),
        )
        .map(([verb, when, onError]): Item => ({ ...verb, ...(when && { when }), onError })),
      body: fc.array(tie('item'), { minLength: 0, maxLength: 3, depthIdentifier: 'items' }),
    };
  });
  return body;
}

function flowArbitrary(children: number, depth: number): fc.Arbitrary<Flow> {
  const items = itemsArbitrary(children, depth);
  const last = itemsArbitrary(0, 1);
  return fc.record({
    body: fc.tuple(items, items, items).map((parts) => parts.flat()),
    onFailure: fc.oneof(fc.constant<Item[]>([]), fc.constant<Item[]>([]), last),
    finally: fc.oneof(fc.constant<Item[]>([]), fc.constant<Item[]>([]), last),
    timeoutMs: maybe(msOf(20_000, 200_000), 5),
  });
}

/** A flow with three flows it may start, of which the first may start the other two. */
export const family: fc.Arbitrary<Family> = fc
  .tuple(
    fc.constantFrom(true, true, false),
    flowArbitrary(3, 3),
    flowArbitrary(2, 1),
    flowArbitrary(0, 1),
    flowArbitrary(0, 1),
  )
  .map(([undoes, parent, grown, ...small]) => ({ parent, children: [...small, grown], undoes }));

export const childNames = ['child0', 'child1', 'child2'] as const;

/** A flow as a document, and how the handlers of its items behave: by key, `:compensate` after it for reversals. */
export interface Written {
  readonly document: JsonObject;
  readonly conducts: ReadonlyMap<string, Conduct>;
  readonly signals: readonly string[];
}

interface Surroundings {
  /** Inside `parallel` or `forEach`: `complete` cannot stand here. */
  readonly concurrent: boolean;
  readonly handling: boolean;
  /** In `onFailure` and `finally`. */
  readonly last: boolean;
}

export function write(workflow: string, flow: Flow, undoes: boolean): Written {
  const writer = new Writer(undoes);
  const base = { concurrent: false, handling: false, last: false };
  const document: JsonObject = {
    workflow,
    steps: writer.body(flow.body, base),
    output: { at: '=$millis()' },
    ...(flow.timeoutMs !== undefined && { timeout: `${flow.timeoutMs}ms` }),
  };
  if (flow.onFailure.length > 0) document.onFailure = writer.body(flow.onFailure, { ...base, last: true });
  if (flow.finally.length > 0) document.finally = writer.body(flow.finally, { ...base, last: true });
  return { document, conducts: writer.conducts, signals: writer.signals };
}

/** Never the same twice: a value that is evaluated again would show. */
const fleeting = { at: '=$millis()', draw: '=$random()' };

class Writer {
  readonly conducts = new Map<string, Conduct>();
  readonly signals: string[] = [];
  readonly #undoes: boolean;
  #count = 0;

  constructor(undoes: boolean) {
    this.#undoes = undoes;
  }

  body(items: readonly Item[], around: Surroundings): JsonValue[] {
    return items.map((item) => this.#item(item, around));
  }

  #item(item: Item, around: Surroundings): JsonObject {
    const id = `s${(this.#count += 1)}`;
    const written: JsonObject = { id, ...this.#verb(id, item, around) };
    const isEnd = item.verb === 'pivot' || item.verb === 'complete' || item.verb === 'fail';
    // Most runs shall go far.
    if (item.when === true || isEnd) written.when = isEnd ? '$random() < 0.3' : '$random() < 0.8';
    const ends = 'set' in written || 'pivot' in written || 'complete' in written || 'rethrow' in written;
    if (item.onError !== undefined && !ends) {
      const handled = { ...around, handling: true };
      written.onError = [{ errors: ['Broken', 'Timeout', 'ChildFailed'], do: this.body(item.onError, handled) }];
    }
    return written;
  }

  #verb(id: string, item: Item, around: Surroundings): JsonObject {
    switch (item.verb) {
      case 'step':
        return this.#step(id, item, around);
      case 'set':
        return { set: { ...fleeting } };
      case 'group':
        return { group: this.body(item.body, around), ...timeout(item.timeoutMs) };
      case 'branch':
        return {
          branch: [
            ...item.arms.map((arm) => ({ when: '$random() < 0.4', do: this.body(arm, around) })),
            { else: this.body(item.otherwise, around) },
          ],
        };
      case 'parallel': {
        const inside = { ...around, concurrent: true };
        const branches = item.branches.map((branch, index): [string, JsonValue] => [
          `b${index}`,
          this.body(branch, inside),
        ]);
        const join: JsonObject =
          item.join === 'wait' ? { onBranchError: 'wait' } : item.join === 'all' ? {} : { join: item.join };
        return { parallel: Object.fromEntries(branches), ...join, ...timeout(item.timeoutMs) };
      }
      case 'forEach': {
        const list = Array.from({ length: item.count }, (_, index) => index);
        return {
          forEach: list,
          as: `item_${id}`,
          concurrency: item.concurrency,
          onItemError: item.goOn ? 'continue' : 'stop',
          do: this.body(item.body, { ...around, concurrent: true }),
          ...timeout(item.timeoutMs),
        };
      }
      case 'doWhile':
        return { doWhile: `$iteration < ${item.turns}`, do: this.body(item.body, around) };
      case 'doUntil':
        return { doUntil: `$iteration >= ${item.turns} or $random() < 0.1`, do: this.body(item.body, around) };
      case 'waitFor':
        return this.#gate(id, item, around);
      case 'sleep':
        return { sleep: `${item.ms}ms` };
      case 'subWorkflow':
        return { subWorkflow: childNames[item.child] ?? 'child0', ...timeout(item.timeoutMs) };
      case 'pivot':
        return around.last ? { set: 'no pivot here' } : { pivot: 'from here on it stays' };
      case 'complete':
        return around.last || around.concurrent ? { set: 'not complete' } : { complete: { early: '=$millis()' } };
      case 'fail':
        return { fail: 'Broken' };
      case 'rethrow':
        return around.handling ? { rethrow: 'as it was' } : { set: 'nothing to rethrow' };
    }
  }

  #step(id: string, item: Item & { verb: 'step' }, around: Surroundings): JsonObject {
    this.conducts.set(id, item.conduct);
    const written: JsonObject = {
      step: 'work',
      with: { ...fleeting },
      ...timeout(item.timeoutMs),
      retry: { attempts: item.attempts, delay: '500ms' },
    };
    if (item.reversal !== undefined && this.#undoes && !around.last) {
      const { conduct, attempts, timeoutMs } = item.reversal;
      this.conducts.set(`${id}:compensate`, conduct);
      written.compensate = {
        step: 'undo',
        with: { ...fleeting, result: '=$result' },
        retry: { attempts, delay: '300ms' },
        ...timeout(timeoutMs),
        exceptErrors: ['Excepted'],
      };
    }
    return written;
  }

  #gate(id: string, item: Item & { verb: 'waitFor' }, { last }: Surroundings): JsonObject {
    const signal = `signal_${id}`;
    this.signals.push(signal);
    const written: JsonObject = {
      waitFor: signal,
      // Nobody could end a run that waits without limit in its last steps.
      timeout: item.timeoutMs === undefined ? (last ? '5s' : 'never') : `${item.timeoutMs}ms`,
    };
    if (item.onTimeout && written.timeout !== 'never') written.onTimeout = { none: true };
    if (item.filter) written.filter = '$signal.value > 4';
    if (item.remind !== undefined) {
      this.conducts.set(`r${id}`, item.remind.conduct);
      written.remind = { id: `r${id}`, every: `${item.remind.everyMs}ms`, step: 'work', with: { ...fleeting } };
    }
    return written;
  }
}

function timeout(ms: number | undefined): JsonObject {
  return ms === undefined ? {} : { timeout: `${ms}ms` };
}
