import {
  type Type,
  absent,
  anything,
  fieldOf,
  isNever,
  listOf,
  never,
  optional,
  present,
  union,
  unknown,
} from './type.js';

/**
 * Several values on the way through a path, as JSONata has them between two steps: its sequences. One of one item
 * is that item in the end, and one of none is absent (`collapsed`).
 */
export interface Spread {
  /** What each of them is; never absent. */
  readonly items: Type;
  readonly min: number;
  readonly max: number;
}

export const one = (type: Type): Spread => ({ items: present(type), min: type.absent ? 0 : 1, max: 1 });

/** The values that a step goes through: of a list its items, of any other value itself. */
export function spreadOf(type: Type): Spread {
  if (type.anything) return { items: anything, min: 0, max: Infinity };
  if (type.list === undefined) {
    const items = present(type);
    const max = isNever(items) ? 0 : 1;
    return { items, min: type.absent ? 0 : max, max };
  }
  const single = { ...present(type), list: undefined };
  const counts = [
    ...(type.absent ? [{ min: 0, max: 0 }] : []),
    ...(isNever(single) ? [] : [{ min: 1, max: 1 }]),
    type.list,
  ];
  return {
    items: union(single, present(type.list.items)),
    min: Math.min(...counts.map(({ min }) => min)),
    max: Math.max(...counts.map(({ max }) => max)),
  };
}

/** What a step gives for each of the values, in one sequence; lists that it gives are taken apart. */
export function through(spread: Spread, each: Type): Spread {
  const inner = spreadOf(each);
  const max = spread.max === 0 || inner.max === 0 ? 0 : spread.max * inner.max;
  return { items: inner.items, min: spread.min * inner.min, max };
}

/** The value that a sequence is in the end. */
export function collapsed({ items, min, max }: Spread): Type {
  return union(
    min === 0 ? absent : never,
    min <= 1 && max >= 1 ? items : never,
    max >= 2 ? listOf(items, Math.max(2, min), max) : never,
  );
}

/** What the last step of a path gives for the values before it: one list for one value stays as it is. */
export function lastOf(spread: Spread, each: Type): Type {
  if (spread.max <= 1) return spread.min === 0 ? optional(each) : each;
  const whole = each.anything ? listOf(anything) : each.list === undefined ? never : { ...never, list: each.list };
  return union(collapsed(through(spread, each)), whole);
}

/** The value of a field; of a list those of its items. */
export function lookup(type: Type, name: string): Type {
  if (type.anything) return unknown;
  const others = { ...type, list: undefined, map: undefined };
  const { list } = type;
  return union(
    isNever(others) ? never : absent,
    type.map === undefined ? never : fieldOf(type.map, name),
    list === undefined ? never : collapsed(through(list, lookup(list.items, name))),
  );
}
