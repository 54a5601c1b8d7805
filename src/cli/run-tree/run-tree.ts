import { type Body, type Item, type Items, type WorkflowDocument, bodiesOf, itemKey } from '../../definition/index.js';
import type { BlockHistory, ReversalHistory, RunHistory, StepHistory, TurnCounts } from '../../engine/index.js';
import { type StateName, isOpen, mostUrgent, stateOfStep } from './states.js';

/** A flow with what a run has made of it: the turns of loops folded together. */
export interface RunTree {
  readonly steps: TreeBody;
  readonly onFailure: TreeBody | undefined;
  readonly finally: TreeBody | undefined;
}

/** A list of items. */
export interface TreeBody {
  /** Below the item that it belongs to; `steps`, `onFailure` or `finally` of the flow itself. */
  readonly path: readonly (string | number)[];
  readonly items: readonly TreeItem[];
  /** The run has come here. */
  readonly reached: boolean;
}

export interface TreeItem {
  readonly item: Item;
  readonly key: string;
  /** The one that asks most for attention, of all turns. */
  readonly state: StateName;
  /** In how many turns it is, or was, in which state; of what holds other items only where it was skipped. */
  readonly counts: ReadonlyMap<StateName, number>;
  /** One for each turn, in the order in which they began; of a block only where it was skipped. */
  readonly steps: readonly StepHistory[];
  readonly reversals: readonly ReversalHistory[];
  /** Of a gate: what was sent while it was open. */
  readonly reminders: readonly StepHistory[];
  /** Of a loop, over all turns of those around it. */
  readonly turns: TurnCounts | undefined;
  /** The next deadline of the block that is still to come, or was missed. */
  readonly deadline: number | undefined;
  readonly bodies: readonly TreeBody[];
}

/** The tree of a run, whose document is known. */
export function treeOf(document: WorkflowDocument, history: RunHistory): RunTree {
  const reader = new TreeReader(history);
  const { error } = history.run;
  const isEnd = (key: string): boolean => error?.step === key;
  return {
    steps: withHandled(reader.section(document.steps, 'steps'), isEnd),
    onFailure: document.onFailure && withHandled(reader.section(document.onFailure, 'onFailure'), isEnd),
    finally: document.finally && withHandled(reader.section(document.finally, 'finally'), isEnd),
  };
}

/** The bodies of the flow itself, in order. */
export function sectionsOf(tree: RunTree): TreeBody[] {
  return [tree.steps, tree.onFailure, tree.finally].filter((body) => body !== undefined);
}

/**
 * Tells failures that something around them, or their own `onError`, has handled from those that went on.
 *
 * @param isEnd whether the run has failed with an item
 */
function withHandled(body: TreeBody, isEnd: (key: string) => boolean, isHandled = false): TreeBody {
  return {
    ...body,
    items: body.items.map((each) => {
      const own = isHandled || isCaught(each.item, each.bodies);
      const bodies = each.bodies.map((inner) =>
        withHandled(inner, isEnd, inner.path[0] === 'onError' ? isHandled : own),
      );
      if (!own || isEnd(each.key)) return { ...each, bodies };
      const counts = new Map([...each.counts].map(([name, count]) => [name === 'failed' ? 'handled' : name, count]));
      return { ...each, bodies, counts, state: each.state === 'failed' ? 'handled' : each.state };
    }),
  };
}

class TreeReader {
  readonly #history: RunHistory;
  readonly #steps: ReadonlyMap<string, readonly StepHistory[]>;
  readonly #blocks: ReadonlyMap<string, readonly BlockHistory[]>;
  readonly #reversals: ReadonlyMap<string, readonly ReversalHistory[]>;

  constructor(history: RunHistory) {
    this.#history = history;
    this.#steps = byKey(history.steps);
    this.#blocks = byKey(history.blocks);
    this.#reversals = byKey(history.reversals);
  }

  section(list: Items, name: 'steps' | 'onFailure' | 'finally'): TreeBody {
    const { run } = this.#history;
    const entered = name === 'steps' && run.startedAt !== null;
    return this.#body({ list, path: [name], segments: '' }, name === 'steps' ? '' : `${name}.`, entered);
  }

  #body({ list, path }: Body, prefix: string, entered: boolean): TreeBody {
    const items = list.map((item, index) => this.#item(item, `${prefix}${index}`));
    const last = items.findLastIndex(({ state }) => state !== 'not-reached');
    const passed = items.map((each, index) => this.#inferred(each, items.slice(0, index), index < last, entered));
    return { path, items: passed, reached: entered || last !== -1 };
  }

  /**
   * Not all that is passed leaves a trace: an empty group, a `fail` without a message. Whatever something comes after
   * is over; a failure without a trace is where all before it is over and nothing after it has begun.
   */
  #inferred(each: TreeItem, before: readonly TreeItem[], isPassed: boolean, entered: boolean): TreeItem {
    if (each.state !== 'not-reached') return each;
    const { item } = each;
    if ('fail' in item || 'rethrow' in item) {
      const hasCome = entered && item.when === undefined && before.every(({ state }) => isOver(state));
      return hasCome && this.#history.run.startedAt !== null ? { ...each, state: 'failed' } : each;
    }
    return isPassed ? { ...each, state: 'completed' } : each;
  }

  #item(item: Item, place: string): TreeItem {
    const key = itemKey(item, place);
    const steps = this.#steps.get(key) ?? [];
    const blocks = this.#blocks.get(key) ?? [];
    const reversals = this.#reversals.get(key) ?? [];
    const skips = new Set(steps.filter(({ kind }) => kind === 'skipped').map(({ occurrence }) => occurrence));
    const entries = blocks.filter(({ occurrence }) => !skips.has(occurrence));
    const bodies = bodiesOf(item).map((body) =>
      this.#body(body, `${place}.${body.segments}`, wentInto(item, body, entries)),
    );
    const remind = 'waitFor' in item ? item.remind : undefined;
    const reminders = remind === undefined ? [] : (this.#steps.get(itemKey(remind, `${place}.remind`)) ?? []);
    const counts = countsOf(steps, reversals, this.#history, item);
    const common = {
      item,
      key,
      counts,
      steps,
      reversals,
      reminders,
      turns: turnsOf(entries),
      deadline: deadlineOf(entries),
      bodies,
    };
    return { ...common, state: stateOf(common, entries.length > 0) };
  }
}

function byKey<T extends { readonly step: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const map = new Map<string, T[]>();
  for (const each of all) {
    const known = map.get(each.step);
    if (known === undefined) map.set(each.step, [each]);
    else known.push(each);
  }
  return map;
}

function wentInto(item: Item, { path: [field, index] }: Body, blocks: readonly BlockHistory[]): boolean {
  if (field === 'branch') return blocks.some(({ arm }) => arm === index);
  if (field === 'onError') return blocks.some(({ handledBy }) => handledBy === index);
  if (field === 'do') return blocks.some(({ turns }) => (turns?.begun ?? 0) > 0);
  // A block whose `when` held leaves a trace by it.
  return field === 'group' && item.when !== undefined && blocks.length > 0;
}

function countsOf(
  steps: readonly StepHistory[],
  reversals: readonly ReversalHistory[],
  history: RunHistory,
  item: Item,
): Map<StateName, number> {
  const undone = new Map(reversals.map((reversal) => [reversal.occurrence, reversal]));
  const counts = new Map<StateName, number>();
  for (const step of steps) {
    const state = stateOfStep(step, undone.get(step.occurrence), item, history.run.endedAt !== null);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

function turnsOf(blocks: readonly BlockHistory[]): TurnCounts | undefined {
  const all = blocks.flatMap(({ turns }) => turns ?? []);
  if (all.length === 0) return undefined;
  const sum = (field: (turns: TurnCounts) => number): number => all.reduce((total, each) => total + field(each), 0);
  return {
    begun: sum(({ begun }) => begun),
    ended: sum(({ ended }) => ended),
    failed: sum(({ failed }) => failed),
    total: all.some(({ total }) => total === null) ? null : sum(({ total }) => total ?? 0),
  };
}

function deadlineOf(blocks: readonly BlockHistory[]): number | undefined {
  return blocks.at(-1)?.deadline;
}

function stateOf({ item, counts, bodies }: Omit<TreeItem, 'state'>, hasTrace: boolean): StateName {
  const own = mostUrgent([...counts.keys()]);
  const isBlock = bodies.some(({ path }) => path[0] !== 'onError');
  const within = bodies.flatMap(({ items, path }) =>
    items.map((each) => ({ state: each.state, caught: path[0] !== 'onError' && isCaught(item, bodies) })),
  );
  const open = mostUrgent(within.map(({ state }) => state).filter(isOpen));
  if (open !== undefined && (own === undefined || !isOpen(own))) return isBlock || own === undefined ? open : own;
  if (!isBlock) return own ?? traceState(item, hasTrace);
  if (within.some(({ state, caught }) => (state === 'failed' || state === 'stuck') && !caught)) return 'failed';
  const reached = within.filter(({ state }) => state !== 'not-reached' && state !== 'skipped');
  if (reached.length > 0) return reached.every(({ state }) => state === 'undone') ? 'undone' : 'completed';
  return own ?? (hasTrace || within.some(({ state }) => state === 'skipped') ? 'completed' : 'not-reached');
}

/** Of an item that calls nothing and waits for nothing. */
function traceState(item: Item, hasTrace: boolean): StateName {
  if (!hasTrace) return 'not-reached';
  return 'fail' in item || 'rethrow' in item ? 'failed' : 'completed';
}

/** Whether what fails inside does not fail the item, or is handled by it. */
function isCaught(item: Item, bodies: readonly TreeBody[]): boolean {
  if ('forEach' in item && item.onItemError === 'continue') return true;
  if ('parallel' in item && item.join !== undefined && item.join !== 'all') return true;
  return bodies.some(({ path, reached }) => path[0] === 'onError' && reached);
}

function isOver(state: StateName): boolean {
  return !isOpen(state) && state !== 'not-reached';
}
