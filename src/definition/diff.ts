import { type JsonObject, type JsonValue, canonicalJson } from '../common/index.js';
import { align } from './align.js';
import type { Definition } from './definition.js';
import type { Arm, Item, Items, OnErrorEntry, ScheduleEntry, WorkflowDocument } from './document.generated.js';
import { type FieldChange, fieldChanges } from './field-changes.js';
import type { Verb } from './verbs.js';
import { type WalkedItem, walkItems } from './walk-items.js';

/** `key` is that of the newer document, save for what was removed; places are 0-based and dotted, as in keys. */
export type ItemChange =
  | { readonly kind: 'added' | 'removed'; readonly key: string; readonly verb: Verb; readonly place: string }
  | { readonly kind: 'moved'; readonly key: string; readonly from: string; readonly to: string }
  | { readonly kind: 'changed'; readonly key: string; readonly fields: readonly FieldChange[] };

/** What is different in meaning between two definitions; nothing where their hashes are equal. */
export interface DefinitionDiff {
  readonly same: boolean;
  /** Of the workflow itself: name, revision, input, constants, policies, schedule, output … */
  readonly document: readonly FieldChange[];
  /** In the order of the newer document, what was removed last. */
  readonly items: readonly ItemChange[];
}

/**
 * Compares the canonical documents, so that layout, comments, labels and descriptions make no difference. Items are the
 * same if they have the same id, wherever they stand; those without one are told by what they do and where.
 */
export function diffDefinitions(before: Definition, after: Definition): DefinitionDiff {
  return {
    same: before.hash === after.hash,
    document: [
      ...fieldChanges(documentFields(before.document), documentFields(after.document)),
      ...scheduleChanges(before.document.schedule, after.document.schedule),
    ],
    items: new ItemComparison(before.document, after.document).changes(),
  };
}

function documentFields(document: WorkflowDocument): JsonObject {
  const { steps: _steps, schedule, onFailure, finally: last, ...rest } = document;
  // Of an empty list nothing in it tells whether it is there.
  const empty = Object.entries({ schedule, onFailure, finally: last }).filter(([, list]) => list?.length === 0);
  return { ...rest, ...Object.fromEntries(empty) } as unknown as JsonObject;
}

/** By id, as the engine tells schedules apart; as a whole where only their order has changed. */
function scheduleChanges(before: readonly ScheduleEntry[] = [], after: readonly ScheduleEntry[] = []): FieldChange[] {
  const byId = (entries: readonly ScheduleEntry[]): JsonObject =>
    Object.fromEntries(
      entries.map((entry, index) => [entry.id ?? String(index), entry as unknown as JsonObject] as const),
    );
  const changes = fieldChanges(byId(before), byId(after), 'schedule');
  const [older, newer] = [before, after] as unknown as [JsonValue[], JsonValue[]];
  if (changes.length > 0 || canonicalJson(older) === canonicalJson(newer)) return changes;
  return [{ path: 'schedule', before: older, after: newer }];
}

/** Pairs the items of two documents, then says how they differ. */
class ItemComparison {
  readonly #before: ReadonlyMap<Item, WalkedItem>;
  readonly #after: ReadonlyMap<Item, WalkedItem>;
  /** From the older document to the newer, and back. */
  readonly #newer = new Map<Item, Item>();
  readonly #older = new Map<Item, Item>();
  /** Items of the newer document that stand where their pair stood. */
  readonly #inPlace = new Set<Item>();
  readonly #armsOf = new Map<Item, readonly FieldChange[]>();
  readonly #contents = new Map<Item, string>();
  readonly #toCompare: Item[] = [];

  constructor(before: WorkflowDocument, after: WorkflowDocument) {
    this.#before = itemsOf(before);
    this.#after = itemsOf(after);
    this.#pairById();
    this.#compareLists(before.steps, after.steps);
    this.#compareLists(before.onFailure, after.onFailure);
    this.#compareLists(before.finally, after.finally);
    this.#compareInsides();
    this.#pairMoved();
  }

  changes(): ItemChange[] {
    const changes: ItemChange[] = [];
    for (const [item, { key, verb, place }] of this.#after) {
      const older = this.#older.get(item);
      if (older === undefined) {
        changes.push({ kind: 'added', key, verb, place });
        continue;
      }
      if (!this.#inPlace.has(item)) {
        changes.push({ kind: 'moved', key, from: this.#before.get(older)?.place ?? '', to: place });
      }
      const fields = [...fieldChanges(ownFields(older), ownFields(item)), ...(this.#armsOf.get(item) ?? [])];
      if (fields.length > 0) changes.push({ kind: 'changed', key, fields });
    }
    for (const [item, { key, verb, place }] of this.#before) {
      if (!this.#newer.has(item)) changes.push({ kind: 'removed', key, verb, place });
    }
    return changes;
  }

  #pair(older: Item, newer: Item): void {
    this.#newer.set(older, newer);
    this.#older.set(newer, older);
    this.#toCompare.push(newer);
  }

  #pairById(): void {
    const byId = new Map<string, Item>();
    for (const item of this.#before.keys()) if (item.id !== undefined) byId.set(item.id, item);
    for (const item of this.#after.keys()) {
      const older = item.id === undefined ? undefined : byId.get(item.id);
      if (older !== undefined) this.#pair(older, item);
    }
  }

  #compareLists(before: Items = [], after: Items = []): void {
    for (const [older, newer] of align(before, after, (one, other) => this.#likeness(one, other))) {
      this.#inPlace.add(newer);
      if (!this.#older.has(newer)) this.#pair(older, newer);
    }
  }

  #compareInsides(): void {
    for (let newer = this.#toCompare.pop(); newer !== undefined; newer = this.#toCompare.pop()) {
      const older = this.#older.get(newer);
      if (older === undefined) continue;
      const arms = [...this.#compareBodies(older, newer), ...this.#compareHandling(older.onError, newer.onError)];
      this.#armsOf.set(newer, arms);
    }
  }

  /** How much speaks for two items of the same list being the same one; 0 for another. */
  #likeness(older: Item, newer: Item): number {
    const paired = this.#newer.get(older);
    if (paired !== undefined || this.#older.has(newer)) return paired === newer ? 8 : 0;
    const isEqual = this.#content(older) === this.#content(newer);
    if (older.id !== newer.id) return isEqual ? 4 : 0;
    if (isEqual) return 4;
    return whatItDoes(older, this.#before) === whatItDoes(newer, this.#after) ? 1 : 0;
  }

  /** All of an item but its id: two that have the same do the same. */
  #content(item: Item): string {
    const known = this.#contents.get(item) ?? contentOf(item);
    this.#contents.set(item, known);
    return known;
  }

  #compareBodies(older: Item, newer: Item): FieldChange[] {
    if ('branch' in newer && 'branch' in older) return this.#compareArms(older.branch, newer.branch);
    if ('parallel' in newer && 'parallel' in older) {
      for (const [name, list] of Object.entries(newer.parallel)) this.#compareLists(older.parallel[name], list);
      return fieldChanges(namesOnly(older.parallel), namesOnly(newer.parallel), 'parallel');
    }
    this.#compareLists(bodyOf(older), bodyOf(newer));
    return [];
  }

  #compareArms(before: readonly Arm[], after: readonly Arm[]): FieldChange[] {
    return this.#compareEntries('branch', before, after, {
      list: (arm) => ('else' in arm ? arm.else : arm.do),
      fields: (arm) => ('else' in arm ? { else: true } : withoutDo(arm)),
      mayBeSame: (one, other) => 'else' in one === 'else' in other,
    });
  }

  #compareHandling(before: readonly OnErrorEntry[] = [], after: readonly OnErrorEntry[] = []): FieldChange[] {
    return this.#compareEntries('onError', before, after, {
      list: (entry) => entry.do,
      fields: withoutDo,
      mayBeSame: () => true,
    });
  }

  /** Arms of a branch, entries of `onError`: lists of items with conditions of their own. */
  #compareEntries<T>(field: string, before: readonly T[], after: readonly T[], entry: EntryShape<T>): FieldChange[] {
    const pairs = align(before, after, (one, other) => {
      if (!entry.mayBeSame(one, other)) return 0;
      return canonicalJson(entry.fields(one)) === canonicalJson(entry.fields(other)) ? 4 : 1;
    });
    const changes: FieldChange[] = [];
    for (const [older, newer] of pairs) {
      this.#compareLists(entry.list(older), entry.list(newer));
      const path = `${field}.${after.indexOf(newer)}`;
      changes.push(...fieldChanges(entry.fields(older), entry.fields(newer), path));
    }
    const [paired, pairedAfter] = [new Set(pairs.map(([one]) => one)), new Set(pairs.map(([, other]) => other))];
    before.forEach((one, index) => {
      if (!paired.has(one)) changes.push({ path: `${field}.${index}`, before: entry.fields(one) });
    });
    after.forEach((one, index) => {
      if (!pairedAfter.has(one)) changes.push({ path: `${field}.${index}`, after: entry.fields(one) });
    });
    return changes;
  }

  /** What is left and has its like elsewhere was moved there. */
  #pairMoved(): void {
    const left = new Map<string, Item[]>();
    for (const item of this.#before.keys()) {
      if (this.#newer.has(item)) continue;
      const content = this.#content(item);
      left.set(content, [...(left.get(content) ?? []), item]);
    }
    for (const item of this.#after.keys()) {
      if (this.#older.has(item)) continue;
      const older = left.get(this.#content(item))?.find((one) => !this.#newer.has(one));
      if (older === undefined) continue;
      this.#pair(older, item);
      this.#compareInsides();
    }
  }
}

interface EntryShape<T> {
  list(entry: T): Items;
  /** All of it but its list. */
  fields(entry: T): JsonObject;
  mayBeSame(one: T, other: T): boolean;
}

function itemsOf(document: WorkflowDocument): Map<Item, WalkedItem> {
  const items = new Map<Item, WalkedItem>();
  walkItems(document, (walked) => items.set(walked.item, walked));
  return items;
}

/** The verb, with what it names: `step charge` and `step refund` are never one step that has changed. */
function whatItDoes(item: Item, items: ReadonlyMap<Item, WalkedItem>): string {
  const verb = items.get(item)?.verb ?? '';
  if ('step' in item) return `${verb} ${item.step}`;
  if ('waitFor' in item) return `${verb} ${item.waitFor}`;
  return 'subWorkflow' in item ? `${verb} ${item.subWorkflow}` : verb;
}

function contentOf(item: Item): string {
  const { id: _id, ...rest } = item;
  return canonicalJson(rest as unknown as JsonValue);
}

/** All of an item but the items inside it. */
function ownFields(item: Item): JsonObject {
  const { onError, ...own } = item;
  const fields: JsonObject = { ...(own as unknown as JsonObject), ...(onError?.length === 0 && { onError: [] }) };
  for (const name of ['group', 'branch', 'parallel', 'do']) if (name in fields) fields[name] = true;
  return fields;
}

function bodyOf(item: Item): Items | undefined {
  if ('group' in item) return item.group;
  return 'do' in item ? item.do : undefined;
}

function withoutDo<T extends { do: Items }>({ do: _do, ...rest }: T): JsonObject {
  return rest as unknown as JsonObject;
}

function namesOnly(branches: Readonly<Record<string, Items>>): JsonObject {
  return Object.fromEntries(Object.keys(branches).map((name) => [name, true]));
}
