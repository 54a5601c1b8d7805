import { enumerated } from '../../definition/index.js';

/**
 * What is known of a value before a run: for each kind of value whether it may be one of that kind. A type admits
 * at least what the value can be; what cannot be known admits everything. So a complaint is right where a type
 * admits nothing that would do.
 */
export interface Type {
  /** Any value that is there. The kinds below then say nothing. */
  readonly anything: boolean;
  /** No value at all. */
  readonly absent: boolean;
  readonly null: boolean;
  readonly boolean: boolean;
  readonly number: Values<number> | undefined;
  readonly string: Values<string> | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
  readonly function: boolean;
}

/** All values of a kind, or one of a few. */
export type Values<T> = 'any' | ReadonlySet<T>;

export interface ListType {
  readonly items: Type;
  /** How many items there are at least and at most. */
  readonly min: number;
  readonly max: number;
}

export interface MapType {
  /** The fields that are known by name; one that may be missing is `absent` too. */
  readonly fields: ReadonlyMap<string, Type>;
  /** What any other field is: `absent` where there are none. */
  readonly rest: Type;
  /** Whether it stands for several maps, of which one may have what another lacks. */
  readonly isMerged?: boolean;
}

/** No value is of this type. */
export const never: Type = {
  anything: false,
  absent: false,
  null: false,
  boolean: false,
  number: undefined,
  string: undefined,
  list: undefined,
  map: undefined,
  function: false,
};

export const absent: Type = { ...never, absent: true };
export const anything: Type = { ...never, anything: true };
/** Nothing is known, not even whether it is there. */
export const unknown: Type = { ...anything, absent: true };
export const nullType: Type = { ...never, null: true };
export const booleanType: Type = { ...never, boolean: true };
export const numberType: Type = { ...never, number: 'any' };
export const stringType: Type = { ...never, string: 'any' };
export const functionType: Type = { ...never, function: true };

export const listOf = (items: Type, min = 0, max = Infinity): Type => ({ ...never, list: { items, min, max } });
export const mapOf = (fields: Iterable<readonly [string, Type]>, rest: Type = absent): Type => ({
  ...never,
  map: { fields: new Map(fields), rest },
});
export const openMap: Type = mapOf([], unknown);
export const optional = (type: Type): Type => (type.absent ? type : { ...type, absent: true });
export const present = (type: Type): Type => (type.absent ? { ...type, absent: false } : type);

export function fieldOf(map: MapType, name: string): Type {
  return map.fields.get(name) ?? map.rest;
}

/** Whether no value at all is of the type, not even an absent one. */
export function isNever(type: Type): boolean {
  return (
    !type.anything &&
    !type.absent &&
    !type.null &&
    !type.boolean &&
    type.number === undefined &&
    type.string === undefined &&
    type.list === undefined &&
    type.map === undefined &&
    !type.function
  );
}

/** More alternatives than this are no list of words that somebody chose. */
const mostValues = 100;

export function union(...types: readonly Type[]): Type {
  return types.reduce(unionOfTwo, never);
}

function unionOfTwo(a: Type, b: Type): Type {
  if (a === b || isNever(b)) return a;
  if (isNever(a)) return b;
  const isAbsent = a.absent || b.absent;
  if (a.anything || b.anything) return isAbsent ? unknown : anything;
  return {
    anything: false,
    absent: isAbsent,
    null: a.null || b.null,
    boolean: a.boolean || b.boolean,
    number: unionOfValues(a.number, b.number),
    string: unionOfValues(a.string, b.string),
    list: a.list && b.list ? unionOfLists(a.list, b.list) : (a.list ?? b.list),
    map: a.map && b.map ? unionOfMaps(a.map, b.map) : (a.map ?? b.map),
    function: a.function || b.function,
  };
}

function unionOfValues<T>(a: Values<T> | undefined, b: Values<T> | undefined): Values<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a === 'any' || b === 'any') return 'any';
  const all = new Set([...a, ...b]);
  return all.size > mostValues ? 'any' : all;
}

function unionOfLists(a: ListType, b: ListType): ListType {
  const items = a.max === 0 ? b.items : b.max === 0 ? a.items : unionOfTwo(a.items, b.items);
  return { items, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function unionOfMaps(a: MapType, b: MapType): MapType {
  const names = new Set([...a.fields.keys(), ...b.fields.keys()]);
  return {
    fields: new Map([...names].map((name) => [name, unionOfTwo(fieldOf(a, name), fieldOf(b, name))])),
    rest: unionOfTwo(a.rest, b.rest),
    isMerged: true,
  };
}

/** What both admit; may admit a little more than that. */
export function intersection(a: Type, b: Type): Type {
  return common(a, b, false);
}

/**
 * Whether a value of one type can be one of the other, its absence left aside. That a list could be empty, and so fit
 * a list of anything, is no excuse: nobody writes a list in the hope that it is.
 */
export function mayBe(type: Type, other: Type): boolean {
  const there = present(type);
  return isNever(there) || !isNever(common(there, present(other), true));
}

function common(a: Type, b: Type, isStrict: boolean): Type {
  if (a === b) return a;
  const isAbsent = a.absent && b.absent;
  if (a.anything) return b.absent === isAbsent ? b : { ...b, absent: isAbsent };
  if (b.anything) return a.absent === isAbsent ? a : { ...a, absent: isAbsent };
  return {
    anything: false,
    absent: isAbsent,
    null: a.null && b.null,
    boolean: a.boolean && b.boolean,
    number: commonValues(a.number, b.number),
    string: commonValues(a.string, b.string),
    list: a.list && b.list && commonList(a.list, b.list, isStrict),
    map: a.map && b.map && commonMap(a.map, b.map, isStrict),
    function: a.function && b.function,
  };
}

function commonValues<T>(a: Values<T> | undefined, b: Values<T> | undefined): Values<T> | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === 'any') return b;
  if (b === 'any') return a;
  const both = new Set([...a].filter((value) => b.has(value)));
  return both.size === 0 ? undefined : both;
}

function commonList(a: ListType, b: ListType, isStrict: boolean): ListType | undefined {
  const items = common(a.items, b.items, isStrict);
  const min = Math.max(a.min, b.min, isStrict && a.max > 0 && b.max > 0 ? 1 : 0);
  const max = isNever(items) ? 0 : Math.min(a.max, b.max);
  return min > max ? undefined : { items, min, max };
}

function commonMap(a: MapType, b: MapType, isStrict: boolean): MapType | undefined {
  const fields = new Map<string, Type>();
  for (const name of new Set([...a.fields.keys(), ...b.fields.keys()])) {
    const field = common(fieldOf(a, name), fieldOf(b, name), isStrict);
    if (isNever(field)) return undefined;
    fields.set(name, field);
  }
  const isMerged = a.isMerged === true || b.isMerged === true;
  return { fields, rest: common(a.rest, b.rest, isStrict), ...(isMerged && { isMerged }) };
}

/** The same type, but with any text and any number where only a few were known. */
export function widened(type: Type): Type {
  return {
    ...type,
    number: type.number && 'any',
    string: type.string && 'any',
    list: type.list && { ...type.list, items: widened(type.list.items) },
    map: type.map && {
      fields: new Map([...type.map.fields].map(([name, field]) => [name, widened(field)])),
      rest: type.map.rest,
      isMerged: type.map.isMerged === true,
    },
  };
}

/** How messages call what a value can be, its absence left aside: `text`, `a number or null`. */
export function describeType(type: Type): string {
  const words = [
    type.boolean && 'true or false',
    type.number !== undefined && 'a number',
    type.string !== undefined && 'text',
    type.list !== undefined && describeList(type.list),
    type.map !== undefined && 'a map',
    type.function && 'a function',
    type.null && 'null',
  ].filter((word) => word !== false);
  if (type.anything) return 'anything';
  return words.length === 0 ? 'absent' : enumerated(words, 'or');
}

/** `a list of numbers` where its items are of one kind. */
function describeList({ items, max }: ListType): string {
  const { anything: isAny, boolean: isBoolean, number, string, list, map } = items;
  const kinds = [number && 'numbers', string && 'texts', list && 'lists', map && 'maps'].filter(
    (kind) => kind !== undefined,
  );
  const [only, second] = kinds;
  return only === undefined || second !== undefined || isAny || isBoolean || items.null || max === 0
    ? 'a list'
    : `a list of ${only}`;
}
