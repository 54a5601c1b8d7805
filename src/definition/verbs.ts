import type { Item } from './document.generated.js';

/** The verbs of the language, in the order in which the schema looks for them. */
export const verbs = [
  'step',
  'set',
  'group',
  'branch',
  'parallel',
  'forEach',
  'doWhile',
  'doUntil',
  'waitFor',
  'sleep',
  'subWorkflow',
  'pivot',
  'complete',
  'fail',
  'rethrow',
] as const;

export type Verb = (typeof verbs)[number];

/** The item of a verb: `ItemOf<'sleep'>` is `SleepItem`. */
export type ItemOf<V extends Verb> = Extract<Item, Record<V, unknown>>;

const known: ReadonlySet<string> = new Set(verbs);

export function isVerb(word: string): word is Verb {
  return known.has(word);
}

/** The one verb of an item of a checked document. */
export function verbOf(item: Item): Verb {
  for (const verb of verbs) if (Object.hasOwn(item, verb)) return verb;
  throw new TypeError(`an item without a verb: ${JSON.stringify(item)}`);
}
