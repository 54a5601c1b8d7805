import type { Condition, Enclosure, FlowItem, FlowModel, FlowRoot, Standing } from '../flow-model.js';
import { type Facts, outOfLoop, sharedFacts, withFacts } from './facts.js';
import { constantCondition, implied } from './implications.js';

/**
 * The ways a run can take through a flow: which items it can come to, which of them it gets past, and what is known at
 * each place because of the conditions on the way.
 */
export interface Course {
  /** Whether the run can get past an item. */
  passes(item: FlowItem): boolean;
  /** Whether it can get to the end of a list. */
  ends(list: Enclosure | FlowRoot): boolean;
  /** Of each list the first item that no run comes to. */
  readonly unreachable: readonly FlowItem[];
  /** Arms and entries of `onError` that are never taken, whatever their own condition says. */
  readonly untaken: readonly Enclosure[];
  isReached(item: FlowItem): boolean;
  /** Whether there is a `complete`, which ends the run before the end of its steps. */
  readonly completesEarly: boolean;
  factsAt(standing: Standing): Facts;
  /** What is known once that list is over. */
  factsAfter(root: FlowRoot): Facts;
}

export function courseOf(model: FlowModel): Course {
  const walk = new CourseWalk(model.items.some(({ verb }) => verb === 'complete'));
  for (const root of ['steps', 'onFailure', 'finally'] as const) walk.root(root, model.roots[root]);
  return walk;
}

/** How a list or an item is left: what is known then; undefined if it cannot be left but by a failure or the end of the run. */
type Exit = { readonly facts: Facts } | undefined;

class CourseWalk implements Course {
  readonly unreachable: FlowItem[] = [];
  readonly untaken: Enclosure[] = [];
  readonly completesEarly: boolean;
  readonly #impassable = new Set<FlowItem | Enclosure | FlowRoot>();
  readonly #unreached = new Set<FlowItem>();
  /** Before the item's own condition, and with it. */
  readonly #before = new Map<FlowItem, Facts>();
  readonly #inside = new Map<FlowItem, Facts>();
  /** Before the condition of an arm or handler. */
  readonly #choosing = new Map<Enclosure, Facts>();
  /** Where the condition of a loop is evaluated. */
  readonly #turning = new Map<FlowItem, Facts>();
  readonly #after = new Map<FlowRoot, Facts>();

  constructor(completesEarly: boolean) {
    this.completesEarly = completesEarly;
  }

  passes(item: FlowItem): boolean {
    return !this.#impassable.has(item);
  }

  ends(list: Enclosure | FlowRoot): boolean {
    return !this.#impassable.has(list);
  }

  isReached(item: FlowItem): boolean {
    return !this.#unreached.has(item);
  }

  factsAt(standing: Standing): Facts {
    switch (standing.kind) {
      case 'when':
        return this.#before.get(standing.item);
      case 'field':
        return this.#inside.get(standing.item);
      case 'turn':
        return this.#turning.get(standing.item);
      case 'choice':
        return this.#choosing.get(standing.enclosure);
      case 'end':
        return this.factsAfter('steps');
      case 'policy':
        return undefined;
    }
  }

  factsAfter(root: FlowRoot): Facts {
    return this.#after.get(root);
  }

  root(root: FlowRoot, items: readonly FlowItem[]): void {
    const exit = this.#list(items, undefined, true);
    if (exit === undefined) this.#impassable.add(root);
    this.#after.set(root, exit?.facts);
  }

  /** @param reached whether a run can come to the first of them; what no run comes to is walked all the same */
  #list(items: readonly FlowItem[], facts: Facts, reached: boolean): Exit {
    let known = facts;
    let goesOn = reached;
    for (const item of items) {
      if (!goesOn) {
        if (reached && this.unreachable.at(-1)?.siblings !== items) this.unreachable.push(item);
        this.#unreached.add(item);
      }
      const exit = this.#item(item, known, goesOn);
      if (exit === undefined) {
        this.#impassable.add(item);
        goesOn = false;
      } else known = exit.facts;
    }
    return goesOn || !reached ? { facts: known } : undefined;
  }

  #item(item: FlowItem, before: Facts, reached: boolean): Exit {
    this.#before.set(item, before);
    const { when } = item;
    const wanted = when && constantCondition(when);
    const inside = when === undefined ? before : withFacts(before, implied(when, true));
    this.#inside.set(item, inside);
    const ways: Facts[] = [];
    if (when !== undefined && wanted !== true) ways.push(withFacts(before, implied(when, false)));
    const own = this.#verb(item, inside, reached);
    if (own !== undefined && wanted !== false) ways.push(own.facts);
    for (const handled of this.#handlers(item, inside, reached)) ways.push(handled);
    return ways.length === 0 ? undefined : { facts: sharedFacts(ways, before) };
  }

  #verb(item: FlowItem, facts: Facts, reached: boolean): Exit {
    switch (item.verb) {
      case 'fail':
        return undefined;
      // Where they cannot stand they are a mistake of their own.
      case 'complete':
        return item.within.some(({ kind }) => kind === 'branch' || kind === 'element') ? { facts } : undefined;
      case 'rethrow':
        return item.within.some(({ kind }) => kind === 'handler') ? undefined : { facts };
      case 'branch':
        return this.#arms(item, facts, reached);
      case 'parallel':
        return this.#branches(item, facts, reached);
      case 'forEach':
        this.#bodies(item, facts, reached);
        return { facts };
      case 'doWhile':
      case 'doUntil':
        return this.#loop(item, facts, reached);
      case 'group':
        // A body that could not be made out may do anything.
        return item.bodies.length === 0 ? { facts } : this.#bodies(item, facts, reached)[0];
      case 'step':
      case 'set':
      case 'waitFor':
      case 'sleep':
      case 'subWorkflow':
      case 'pivot':
        return { facts };
    }
  }

  #bodies(item: FlowItem, facts: Facts, reached: boolean): Exit[] {
    return item.bodies.map((body) => this.#enclosed(body, facts, reached));
  }

  #enclosed(enclosure: Enclosure, facts: Facts, reached: boolean): Exit {
    const exit = this.#list(enclosure.items, facts, reached);
    if (exit === undefined) this.#impassable.add(enclosure);
    return exit;
  }

  #arms(item: FlowItem, facts: Facts, reached: boolean): Exit {
    const ways: Facts[] = [];
    let known = facts;
    let isOpen = true;
    for (const arm of item.bodies) {
      this.#choosing.set(arm, known);
      const { when } = arm;
      if (!isOpen) this.untaken.push(arm);
      const inside = when === undefined ? known : withFacts(known, implied(when, true));
      const exit = this.#enclosed(arm, inside, reached && isOpen);
      const value = when && constantCondition(when);
      if (exit !== undefined && isOpen && value !== false) ways.push(exit.facts);
      if (when === undefined || value === true) isOpen = false;
      else known = withFacts(known, implied(when, false));
    }
    if (item.bodies.length === 0) return { facts };
    return ways.length === 0 ? undefined : { facts: sharedFacts(ways, facts) };
  }

  #branches(item: FlowItem, facts: Facts, reached: boolean): Exit {
    const exits = this.#bodies(item, facts, reached);
    const needed = branchesNeeded(item);
    const completing = exits.filter((exit) => exit !== undefined);
    return completing.length < needed ? undefined : { facts };
  }

  #loop(item: FlowItem, facts: Facts, reached: boolean): Exit {
    const { condition, verb } = item;
    const [body] = item.bodies;
    if (body === undefined) return { facts };
    const constant = condition && constantCondition(condition);
    const given = (known: Facts, value: boolean): Facts =>
      condition === undefined ? known : withFacts(known, implied(condition, value));
    const turn = withFacts(facts, [{ kind: 'loop', item }]);
    if (verb === 'doWhile') {
      this.#turning.set(item, turn);
      this.#enclosed(body, given(turn, true), reached);
      return constant === true ? undefined : { facts: outOfLoop(given(turn, false), facts) };
    }
    const exit = this.#enclosed(body, turn, reached);
    const atEnd = exit?.facts ?? turn;
    this.#turning.set(item, atEnd);
    return exit === undefined || constant === false ? undefined : { facts: outOfLoop(given(atEnd, true), facts) };
  }

  /** What is known after each entry of an `onError` that lets the run go on. */
  #handlers(item: FlowItem, facts: Facts, reached: boolean): Facts[] {
    const ways: Facts[] = [];
    for (const handler of item.handlers) {
      this.#choosing.set(handler, facts);
      const { when } = handler;
      const inside = when === undefined ? facts : withFacts(facts, implied(when, true));
      const exit = this.#enclosed(handler, inside, reached);
      if (exit !== undefined) ways.push(exit.facts);
    }
    return ways;
  }
}

/** How many branches of a `parallel` must complete. */
export function branchesNeeded(item: FlowItem): number {
  const join = item.node.entries.find(({ key }) => key.value === 'join')?.value;
  if (join?.kind !== 'scalar') return item.bodies.length;
  if (join.value === 'any') return 1;
  return typeof join.value === 'number' ? Math.min(join.value, item.bodies.length) : item.bodies.length;
}

/** Whether every condition's value is the same in all turns and runs: it is nothing but `true`. */
export function isPlainTrue({ formula, literal }: Condition): boolean {
  return literal === true || formula?.text.replace(/^\s*=/, '').trim() === 'true';
}
