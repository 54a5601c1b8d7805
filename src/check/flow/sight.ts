import type { JsonObject } from '../../common/index.js';
import { entryOf } from '../../syntax/index.js';
import type { Condition, Enclosure, FlowItem, FlowRoot, Place } from '../flow-model.js';
import { type Course, branchesNeeded } from './course.js';
import { type Facts, absentIn, isCompletedBy, isGiven, isLaterTurn, withFacts } from './facts.js';
import { constantCondition, implied, valueBy } from './implications.js';
import { foldFormula } from './fold-formula.js';
import { treeOf } from './formula-text.js';
import {
  type Position,
  bodyOf,
  carrierOf,
  commonDepth,
  hiddenBy,
  isSafeStart,
  positionOf,
  roots,
} from './positions.js';

/**
 * Whether an item has an output where a formula reads it.
 * - `certain`: it has one, as far as can be known
 * - `maybe`: there are ways to this place on which it has none; `why` says which, `about` whose doing it is
 * - `never`: on no way does it have one
 * - `hidden`: it is never seen from there
 * - `silent`: it gives no output wherever it is read
 */
export type Sight =
  | { readonly kind: 'certain' | 'silent' }
  | { readonly kind: 'maybe'; readonly why: Doubt; readonly about: FlowItem }
  | { readonly kind: 'never'; readonly why: Absence; readonly about: FlowItem }
  | { readonly kind: 'hidden'; readonly by: Enclosure };

export type Doubt =
  | 'skipped'
  | 'first-turn'
  | 'no-turn'
  | 'other-arm'
  | 'handled-error'
  | 'only-on-error'
  | 'failed-before'
  | 'lost-branch'
  | 'no-output'
  | 'run-ended';

export type Absence = 'later' | 'itself' | 'around' | 'other-arm' | 'failed-parallel' | 'unreachable' | 'way-ends';

/** How certain it is that an item gives an output when it is run to its end. */
type Giving = 'certain' | 'maybe' | 'never';

/** Answers what can be seen from where. */
export class Sights {
  readonly #course: Course;
  readonly #constants: JsonObject;
  readonly #items: ReadonlyMap<string, FlowItem>;
  readonly #giving = new Map<FlowItem, Giving>();

  /** @param items by their names in `$steps` */
  constructor(course: Course, constants: JsonObject, items: ReadonlyMap<string, FlowItem>) {
    this.#course = course;
    this.#items = items;
    this.#constants = constants;
  }

  /**
   * @param name by which `$steps` knows the item
   * @param facts what is known where the formula reads it; also from the formula itself
   */
  of(item: FlowItem, name: string, { standing, within }: Place, facts: Facts): Sight {
    if (standing.kind === 'policy') return { kind: 'certain' };
    const by = hiddenBy(item, within);
    if (by !== undefined) return { kind: 'hidden', by };
    if (this.#givingOf(item) === 'never') return { kind: 'silent' };
    const sight = this.#seenFrom(item, positionOf(standing, within), facts);
    return sight.kind === 'maybe' && isGiven(facts, name) ? { kind: 'certain' } : sight;
  }

  /** Whether a run may come to one item after the other, which stands before it, or around the same time. */
  canFollow(item: FlowItem, next: FlowItem): boolean {
    if (item.root !== next.root) return true;
    const depth = commonDepth(item.within, next.within);
    const [own, other] = [item.within[depth], next.within[depth]];
    if (own !== undefined && own.item === other?.item) {
      return own.kind === 'branch' || (own.kind !== 'handler' && other.kind === 'handler');
    }
    return this.#goesOnAfter(item, depth);
  }

  #seenFrom(item: FlowItem, from: Position, facts: Facts): Sight {
    if (item.root !== from.root) return this.#acrossRoots(item, from.root, facts);
    const depth = commonDepth(item.within, from.within);
    const carrier = carrierOf(item, depth);
    const sight = this.#inSequence(item, from, depth, facts);
    if (carrier === undefined || sight.kind !== 'never') return sight;
    if (isLaterTurn(facts, carrier)) return this.#descend(item, item.within.indexOf(bodyOf(carrier)) + 1, facts);
    return { kind: 'maybe', why: 'first-turn', about: carrier };
  }

  /** In `onFailure` and `finally` the run may have ended anywhere, unless it is known that it came to its end. */
  #acrossRoots(item: FlowItem, from: FlowRoot, facts: Facts): Sight {
    if (roots.indexOf(item.root) > roots.indexOf(from)) return { kind: 'never', why: 'later', about: item };
    if (!this.#course.isReached(item)) return { kind: 'never', why: 'unreachable', about: item };
    const hasCompleted = from === 'finally' && item.root === 'steps' && !this.#course.completesEarly;
    if (hasCompleted && isCompletedBy(facts)) return this.#descend(item, 0, facts);
    return { kind: 'maybe', why: 'run-ended', about: item };
  }

  /** As it is if no earlier turn of a loop has left anything. */
  #inSequence(item: FlowItem, from: Position, depth: number, facts: Facts): Sight {
    const top = item.within[depth]?.item ?? item;
    const enclosure = from.within[depth];
    const owner = enclosure?.item ?? from.owner;
    if (owner === top) return this.#inOneItem(item, top, enclosure, depth);
    if (top.index > (enclosure?.item.index ?? from.index)) return { kind: 'never', why: 'later', about: item };
    if (!this.#course.isReached(item)) return { kind: 'never', why: 'unreachable', about: item };
    if (!this.#goesOnAfter(item, depth)) return { kind: 'never', why: 'way-ends', about: item };
    return this.#descend(item, depth, facts);
  }

  /** The reader stands in the same item as what it reads, or in what it reads. */
  #inOneItem(item: FlowItem, top: FlowItem, reader: Enclosure | undefined, depth: number): Sight {
    const own = item.within[depth];
    if (own === undefined) return { kind: 'never', why: 'itself', about: item };
    if (reader === undefined) return { kind: 'never', why: 'around', about: item };
    if (own.kind === 'handler' && reader.kind !== 'handler') return { kind: 'never', why: 'later', about: item };
    if (own.kind === 'handler' || reader.kind !== 'handler') return { kind: 'never', why: 'other-arm', about: item };
    // The reader handles a failure of what is around the item.
    if (own.kind === 'branch') return { kind: 'never', why: 'failed-parallel', about: top };
    if (!this.#course.isReached(item)) return { kind: 'never', why: 'unreachable', about: item };
    if (own.kind === 'part' && isSafeStart(item, depth)) return { kind: 'certain' };
    return { kind: 'maybe', why: 'failed-before', about: top };
  }

  /** Whether a run that has passed the item can get out of what is around it, below that depth. */
  #goesOnAfter(item: FlowItem, depth: number): boolean {
    let goesOn = this.#handledOn(item, this.#course.passes(item));
    for (let level = item.within.length - 1; level >= depth; level--) {
      const enclosure = item.within[level];
      if (enclosure === undefined) break;
      goesOn &&= this.#course.ends(enclosure);
      // A failed branch is forgotten, and a failed `parallel` with all of them.
      if (!goesOn && enclosure.kind === 'branch') return false;
      if (enclosure.kind !== 'handler') goesOn = this.#handledOn(enclosure.item, goesOn);
    }
    return goesOn;
  }

  #handledOn(item: FlowItem, goesOn: boolean): boolean {
    return goesOn || item.handlers.some((handler) => this.#course.ends(handler));
  }

  /** Whether the item has given an output where what is around it, from that depth on, was run to its end. */
  #descend(item: FlowItem, depth: number, facts: Facts): Sight {
    for (let level = depth; ; level++) {
      const each = item.within[level]?.item ?? item;
      const isWanted = this.#isRun(each, facts) || this.#isWantedInstead(each, facts);
      if (!isWanted) return { kind: 'maybe', why: 'skipped', about: each };
      if (each === item) break;
      const enclosure = item.within[level];
      if (enclosure === undefined) break;
      if (enclosure.kind === 'handler') {
        if (!this.#isHandledInstead(each, enclosure, facts))
          return { kind: 'maybe', why: 'only-on-error', about: each };
        continue;
      }
      const escapes = each.handlers.filter((handler) => this.#course.ends(handler));
      const isHandled = escapes.some((handler) => !this.#hasAbsent(handler, facts));
      if (isHandled) return { kind: 'maybe', why: 'handled-error', about: each };
      const doubt = this.#doubtInside(each, enclosure, facts);
      if (doubt !== undefined) return { kind: 'maybe', why: doubt, about: each };
    }
    if (this.#givingOf(item) === 'certain' || this.#givesBy(item, facts) === 'certain') return { kind: 'certain' };
    return { kind: 'maybe', why: 'no-output', about: item };
  }

  #doubtInside(owner: FlowItem, enclosure: Enclosure, facts: Facts): Doubt | undefined {
    switch (enclosure.kind) {
      case 'arm':
        return this.#isTaken(owner, enclosure, facts) ? undefined : 'other-arm';
      case 'turn':
        return owner.verb === 'doUntil' || this.#beginsTrue(owner.condition) ? undefined : 'no-turn';
      case 'branch':
        return this.#mustComplete(owner, enclosure, facts) ? undefined : 'lost-branch';
      default:
        return undefined;
    }
  }

  #isRun({ when, within }: FlowItem, facts: Facts): boolean {
    return when === undefined || this.#cameOut(true, when, within, facts);
  }

  /** By what is known, or because no other arm lets the run go on. */
  #isTaken(branch: FlowItem, arm: Enclosure, facts: Facts): boolean {
    const open = branch.bodies.filter((each) => this.#course.ends(each) && !this.#course.untaken.includes(each));
    const others = open.filter((each) => each !== arm && !this.#hasAbsent(each, facts));
    if (others.length === 0) return true;
    if (arm.when !== undefined) return this.#cameOut(true, arm.when, branch.within, facts);
    return others.every(({ when }) => when !== undefined && this.#cameOut(false, when, branch.within, facts));
  }

  /** Of the branches in which nothing is missing there are too few to go on without this one. */
  #mustComplete(parallel: FlowItem, branch: Enclosure, facts: Facts): boolean {
    const others = parallel.bodies.filter((each) => each !== branch && !this.#hasAbsent(each, facts));
    return others.length < branchesNeeded(parallel);
  }

  /** Whether a list holds an item that is known to have no output: then it was not run to its end. */
  #hasAbsent(list: Enclosure, facts: Facts): boolean {
    return this.#absent(facts).some(({ within }) => within.includes(list));
  }

  #absent(facts: Facts): FlowItem[] {
    return absentIn(facts).flatMap((name) => this.#items.get(name) ?? []);
  }

  /** Whether something is missing that would be there if the item had been skipped. */
  #isWantedInstead({ when }: FlowItem, facts: Facts): boolean {
    if (when === undefined) return true;
    const otherwise = withFacts(undefined, implied(when, false));
    return this.#absent(facts).some((other) => {
      const conditions = [other.when, ...other.within.flatMap((each) => [each.when, each.item.when])];
      return conditions.some((condition) => condition !== undefined && valueBy(otherwise, condition) === true);
    });
  }

  /** Whether something is missing that would be there if this had not handled a failure. */
  #isHandledInstead(item: FlowItem, handler: Enclosure, facts: Facts): boolean {
    const isMain = (other: FlowItem): boolean =>
      other === item || other.within.some((each) => each.item === item && each.kind !== 'handler');
    if (!this.#absent(facts).some(isMain)) return false;
    const open = item.handlers.filter((each) => this.#course.ends(each));
    return open.every((each) => each === handler || this.#hasAbsent(each, facts));
  }

  /**
   * Whether a condition once had that value: by what is known, or in the first turn of the loop around it, since what ran
   * then has left its output to all later turns.
   */
  #cameOut(value: boolean, condition: Condition, within: readonly Enclosure[], facts: Facts): boolean {
    if (valueBy(facts, condition) === value) return true;
    const repeated = within.findLast(({ kind }) => kind === 'turn' || kind === 'element');
    return repeated?.kind === 'turn' && this.#valueAtFirst(condition) === value;
  }

  /** Whether a `doWhile` has at least one turn. */
  #beginsTrue(condition: Condition | undefined): boolean {
    return condition !== undefined && (condition.literal ?? this.#valueAtFirst(condition)) === true;
  }

  #valueAtFirst({ formula }: Condition): boolean | undefined {
    if (formula === undefined) return undefined;
    const tree = treeOf(formula.text);
    const value = tree && foldFormula(tree, formula.text, { iteration: 0, constants: this.#constants });
    return typeof value === 'boolean' ? value : undefined;
  }

  #givingOf(item: FlowItem): Giving {
    let giving = this.#giving.get(item);
    if (giving === undefined) {
      giving = this.#givesBy(item, undefined);
      this.#giving.set(item, giving);
    }
    return giving;
  }

  #givesBy(item: FlowItem, facts: Facts): Giving {
    const ways = item.handlers.filter((each) => this.#course.ends(each)).map((each) => this.#bodyGives(each, facts));
    const own = this.#verbGives(item, facts);
    return oneOf(own === undefined ? ways : [own, ...ways]);
  }

  /** Undefined where the verb is not run to its end. */
  #verbGives(item: FlowItem, facts: Facts): Giving | undefined {
    switch (item.verb) {
      case 'step':
      case 'set':
      case 'waitFor':
      case 'subWorkflow':
      case 'parallel':
      case 'forEach':
        return 'certain';
      case 'sleep':
      case 'pivot':
        return 'never';
      case 'fail':
      case 'complete':
      case 'rethrow':
        return undefined;
      case 'group':
      case 'doUntil':
      case 'doWhile': {
        const [body] = item.bodies;
        if (body === undefined) return 'certain';
        if (!this.#course.ends(body) && item.verb !== 'doWhile') return undefined;
        const giving = this.#bodyGives(body, facts);
        const mayHaveNoTurn = item.verb === 'doWhile' && !this.#beginsTrue(item.condition);
        return giving === 'certain' && mayHaveNoTurn ? 'maybe' : giving;
      }
      case 'branch': {
        const open = item.bodies.filter((arm) => this.#course.ends(arm) && !this.#course.untaken.includes(arm));
        const taken = open.find((arm) => this.#isTaken(item, arm, facts));
        return oneOf((taken === undefined ? open : [taken]).map((arm) => this.#bodyGives(arm, facts)));
      }
    }
  }

  #bodyGives({ items, node }: Enclosure, facts: Facts): Giving {
    let giving: Giving = 'never';
    // Of items that could not be made out nothing is known.
    if (listLength(node) > items.length) return 'certain';
    for (const item of items) {
      const each = facts === undefined ? this.#givingOf(item) : this.#givesBy(item, facts);
      if (each === 'never') continue;
      if (each === 'certain' && this.#isRun(item, facts)) return 'certain';
      if (item.when === undefined || constantCondition(item.when) !== false) giving = 'maybe';
    }
    return giving;
  }
}

/** Of several ways one is taken. */
function oneOf(ways: readonly Giving[]): Giving {
  if (ways.every((way) => way === 'never')) return 'never';
  return ways.every((way) => way === 'certain') ? 'certain' : 'maybe';
}

/** How many items a list has, those included that could not be made out. */
function listLength(node: Enclosure['node']): number {
  const list = node.kind === 'mapping' ? (entryOf(node, 'do') ?? entryOf(node, 'else'))?.value : node;
  return list?.kind === 'sequence' ? list.items.length : Infinity;
}
