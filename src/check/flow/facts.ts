import type { FlowItem } from '../flow-model.js';

/**
 * What is known at a place because of the conditions on the way to it.
 * - `given`: the step has an output; `isSure` where that follows, else its author is taken to have seen to its absence
 * - `absent`: what was read of the step is not there
 * - `truth`: a formula of this text was true, or false. `equal`: it says that something is a literal value
 * - `loop`: what comes after is known of a turn of this loop
 * - `later-turn`: that is not its first turn
 */
export type Fact =
  | { readonly kind: 'given'; readonly step: string; readonly isSure: boolean }
  | { readonly kind: 'absent'; readonly step: string }
  | {
      readonly kind: 'truth';
      readonly text: string;
      readonly value: boolean;
      readonly equal?: { readonly subject: string; readonly literal: unknown };
    }
  | { readonly kind: 'loop'; readonly item: FlowItem }
  | { readonly kind: 'later-turn' };

/** A list that shares its tail with those of the places before it. */
export type Facts = { readonly fact: Fact; readonly rest: Facts } | undefined;

export function withFacts(facts: Facts, more: readonly Fact[]): Facts {
  return more.reduce<Facts>((rest, fact) => ({ fact, rest }), facts);
}

export function isGiven(facts: Facts, step: string): boolean {
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'given' && each.fact.step === step) return true;
  }
  return false;
}

/** The steps of which nothing was found. */
export function absentIn(facts: Facts): string[] {
  const steps: string[] = [];
  for (let each = facts; each !== undefined; each = each.rest)
    if (each.fact.kind === 'absent') steps.push(each.fact.step);
  return steps;
}

/** Whether it is known that this is not the first turn of that loop. */
export function isLaterTurn(facts: Facts, loop: FlowItem): boolean {
  let isLater = false;
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'later-turn') isLater = true;
    if (each.fact.kind !== 'loop') continue;
    if (each.fact.item === loop) return isLater;
    isLater = false;
  }
  return false;
}

/** What is left of what was known in a loop once it is over. */
export function outOfLoop(facts: Facts, before: Facts): Facts {
  const left = sinceBase(facts, before).filter(({ kind }) => kind !== 'loop' && kind !== 'later-turn');
  return withFacts(before, left);
}

/** Whether one of the two places cannot be reached where the other is. */
export function contradict(some: Facts, others: Facts): boolean {
  for (let each = some; each !== undefined; each = each.rest) {
    const { fact } = each;
    if (fact.kind !== 'truth') continue;
    if (truthIn(others, fact.text) === !fact.value) return true;
    if (fact.equal !== undefined && fact.value && isOtherwiseEqual(others, fact.equal)) return true;
  }
  return false;
}

function isOtherwiseEqual(facts: Facts, { subject, literal }: { subject: string; literal: unknown }): boolean {
  for (let each = facts; each !== undefined; each = each.rest) {
    const { fact } = each;
    if (fact.kind !== 'truth' || !fact.value || fact.equal?.subject !== subject) continue;
    if (fact.equal.literal !== literal) return true;
  }
  return false;
}

/** The newest that is known of a formula of this text. */
export function truthIn(facts: Facts, text: string): boolean | undefined {
  for (let each = facts; each !== undefined; each = each.rest) {
    if (each.fact.kind === 'truth' && each.fact.text === text) return each.fact.value;
  }
  return undefined;
}

/** Whether it is known, in `finally`, that the run has completed. */
export function isCompletedBy(facts: Facts): boolean {
  return truthIn(facts, '$run.status = "completed"') === true || truthIn(facts, '$exists($error)') === false;
}

/** What holds after each of several ways, all of which began with `base`. */
export function sharedFacts(ways: readonly Facts[], base: Facts): Facts {
  const [first, ...others] = ways.map((way) => sinceBase(way, base));
  if (first === undefined) return base;
  if (others.length === 0) return ways[0];
  const shared = first.filter((fact) => isLasting(fact) && others.every((facts) => includes(facts, fact)));
  return withFacts(base, shared);
}

function isLasting(fact: Fact): boolean {
  return fact.kind !== 'given' || fact.isSure;
}

function includes(facts: readonly Fact[], fact: Fact): boolean {
  return facts.some((other) => isSameFact(fact, other) && isLasting(other));
}

function sinceBase(facts: Facts, base: Facts): Fact[] {
  const found: Fact[] = [];
  for (let each = facts; each !== base && each !== undefined; each = each.rest) found.push(each.fact);
  return found.reverse();
}

export function isSameFact(some: Fact, other: Fact): boolean {
  if (some.kind === 'given' || some.kind === 'absent') return other.kind === some.kind && some.step === other.step;
  if (some.kind === 'truth') return other.kind === 'truth' && some.text === other.text && some.value === other.value;
  return some.kind === other.kind;
}
