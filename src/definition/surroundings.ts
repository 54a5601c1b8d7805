import { type MappingEntry, type MappingNode, entryOf, textOf } from '../syntax/index.js';
import type { Verb } from './verbs.js';

/** What is around a place, as far as it decides what may stand there. */
export interface Surroundings {
  /** Number of item lists around. */
  readonly depth: number;
  /** Set inside `onFailure` and `finally`. */
  readonly closing?: 'onFailure' | 'finally';
  /** Set inside `parallel` and `forEach`. */
  readonly concurrent?: 'parallel' | 'forEach';
  readonly inOnError: boolean;
  /** Names of the elements of the `forEach` around. */
  readonly loopVariables: readonly string[];
}

/** What the list under a key of the workflow itself sees around it. */
export function closingOf({ key }: MappingEntry, around: Surroundings): Surroundings {
  const closing = around.depth === 0 && (key.value === 'onFailure' || key.value === 'finally');
  return closing ? { ...around, closing: key.value } : around;
}

/** What the bodies of a verb see around them; its `when` and `onError` stand outside it. */
export function insideOf(verb: Verb, node: MappingNode, around: Surroundings): Surroundings {
  if (verb === 'parallel') return { ...around, concurrent: 'parallel' };
  if (verb !== 'forEach') return around;
  const name = textOf(entryOf(node, 'as')?.value) ?? 'item';
  return { ...around, concurrent: 'forEach', loopVariables: [...around.loopVariables, name] };
}
