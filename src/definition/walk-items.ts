import type { JsonValue } from '../common/index.js';
import type { Path } from '../syntax/index.js';
import type { Item, Items, Reminder, WorkflowDocument } from './document.generated.js';
import { type Verb, verbOf } from './verbs.js';

export interface WalkedItem {
  readonly item: Item;
  readonly verb: Verb;
  /** Unique in the file; see `itemKey`. */
  readonly key: string;
  /** 0-based dotted place, the part of a key after `@`. */
  readonly place: string;
  /** From the root of the document. */
  readonly path: Path;
  /** The list in which the item stands. */
  readonly list: Items;
  /** Whether it stands in the body of a loop, at any depth: then it can be reached more than once. */
  readonly inLoop: boolean;
  /** In how many loops: the occurrence of one of its turns has so many numbers. */
  readonly loops: number;
}

/** A list of items inside an item, with where it stands. */
export interface Body {
  readonly list: Items;
  /** Relative to the item. */
  readonly path: Path;
  /** Appended to the item's place. */
  readonly segments: string;
}

/**
 * The name of an item in the journal: its id, else `mail.send@2.0`, that is, its handler or verb and its
 * place. Ids have no `@`, so the two never meet.
 */
export function itemKey(item: Item | Reminder, place: string): string {
  if (item.id !== undefined) return item.id;
  return `${'step' in item ? item.step : verbOf(item)}@${place}`;
}

/** Visits every item of the document in the order of the file, an item before what is inside it. */
export function walkItems(document: WorkflowDocument, visit: (walked: WalkedItem) => void): void {
  walkList(document.steps, { path: ['steps'], prefix: '', loops: 0 }, visit);
  walkList(document.onFailure ?? [], { path: ['onFailure'], prefix: 'onFailure.', loops: 0 }, visit);
  walkList(document.finally ?? [], { path: ['finally'], prefix: 'finally.', loops: 0 }, visit);
}

interface Standing {
  readonly path: Path;
  readonly prefix: string;
  readonly loops: number;
}

function walkList(list: Items, { path, prefix, loops }: Standing, visit: (walked: WalkedItem) => void): void {
  list.forEach((item, index) => {
    const place = `${prefix}${index}`;
    const itemPath = [...path, index];
    const key = itemKey(item, place);
    visit({ item, verb: verbOf(item), key, place, path: itemPath, list, inLoop: loops > 0, loops });
    for (const body of bodiesOf(item)) {
      const inside = {
        path: [...itemPath, ...body.path],
        prefix: `${place}.${body.segments}`,
        // Of a loop only the body is repeated, not what handles its failure.
        loops: loops + (isLoop(item) && body.path[0] === 'do' ? 1 : 0),
      };
      walkList(body.list, inside, visit);
    }
  });
}

export function isLoop(item: Item): boolean {
  return 'forEach' in item || 'doWhile' in item || 'doUntil' in item;
}

/** The calls of handlers that an item can make: forwards, backwards, to remind. */
export function callsOf(item: Item): readonly { readonly step: string; readonly with?: JsonValue }[] {
  if ('step' in item) return item.compensate === undefined ? [item] : [item, item.compensate];
  return 'waitFor' in item && item.remind !== undefined ? [item.remind] : [];
}

/** Every handler that an item can call. */
export function handlersOf(item: Item): string[] {
  return callsOf(item).map(({ step }) => step);
}

/** The lists directly inside an item: its bodies, then those of its `onError`. */
export function bodiesOf(item: Item): Body[] {
  const handlers = (item.onError ?? []).map((entry, index): Body => ({
    list: entry.do,
    path: ['onError', index, 'do'],
    segments: `onError.${index}.`,
  }));
  return [...ownBodies(item), ...handlers];
}

function ownBodies(item: Item): Body[] {
  if ('group' in item) return [{ list: item.group, path: ['group'], segments: '' }];
  if ('do' in item) return [{ list: item.do, path: ['do'], segments: '' }];
  if ('branch' in item) {
    return item.branch.map((arm, index) =>
      'else' in arm
        ? { list: arm.else, path: ['branch', index, 'else'], segments: `${index}.` }
        : { list: arm.do, path: ['branch', index, 'do'], segments: `${index}.` },
    );
  }
  if ('parallel' in item) {
    return Object.entries(item.parallel).map(([name, list]) => ({
      list,
      path: ['parallel', name],
      segments: `${branchSegment(name)}.`,
    }));
  }
  return [];
}

/**
 * A branch's name as a segment of a place. In brackets where it could be taken for structure: `a.0` for
 * branch `a` and item 0, `onError` for the item's own handlers.
 */
export function branchSegment(name: string): string {
  return name.includes('.') || name === 'onError' || name === 'remind' ? `[${name}]` : name;
}
