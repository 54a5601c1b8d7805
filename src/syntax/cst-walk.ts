import type { CST } from 'yaml';

/** Where a token of the concrete syntax stands. */
export interface Place {
  readonly token: CST.Token;
  /** Of a collection: 1 for the outermost. */
  readonly depth: number;
  readonly role: 'key' | 'value' | 'property';
  readonly inFlow: boolean;
  /** The key token, of a map's value. */
  readonly owner?: CST.Token;
  /** Of a key: where its colon stands, if it has one. */
  readonly colon?: number;
  /** Of a value: it begins on the line of its key or `-`. */
  readonly sameLine: boolean;
}

/**
 * All tokens that hold values, keys or their properties (tags, anchors), in the order of the file.
 * Iterative, so that hostile nesting cannot exhaust the stack.
 */
export function* placesOf(tokens: readonly CST.Token[]): Generator<Place> {
  const pending: Place[] = tokens.map((token) => ({ token, depth: 0, role: 'value', inFlow: false, sameLine: false }));
  pending.reverse();
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    yield place;
    pending.push(...childrenOf(place).reverse());
  }
}

function childrenOf({ token, depth, inFlow }: Place): Place[] {
  switch (token.type) {
    case 'document':
      return [
        ...properties(token.start, depth, false),
        ...values(token.value, { depth: depth + 1, inFlow: false, sameLine: false }),
      ];
    case 'block-map':
    case 'block-seq':
    case 'flow-collection': {
      const flow = inFlow || token.type === 'flow-collection';
      return token.items.flatMap((item) => {
        const { start, key, sep, value } = item as CST.CollectionItem;
        const before = sep ?? start;
        const sameLine = !before.some((each) => each.type === 'newline');
        const place = { depth: depth + 1, inFlow: flow };
        return [
          ...properties(start, depth, flow),
          ...values(key, { ...place, role: 'key', sameLine: false, ...colonOf(sep) }),
          ...properties(sep ?? [], depth, flow),
          ...values(value, { ...place, sameLine, ...(key ? { owner: key } : {}) }),
        ];
      });
    }
    default:
      return [];
  }
}

export function colonOf(separators: readonly CST.SourceToken[] = []): { colon?: number } {
  const colon = separators.find((token) => token.type === 'map-value-ind');
  return colon === undefined ? {} : { colon: colon.offset };
}

function values(token: CST.Token | null | undefined, place: Omit<Place, 'token' | 'role'> & { role?: 'key' }): Place[] {
  return token === null || token === undefined ? [] : [{ role: 'value', ...place, token }];
}

function properties(tokens: readonly CST.SourceToken[], depth: number, inFlow: boolean): Place[] {
  return tokens
    .filter((token) => token.type === 'tag' || token.type === 'anchor')
    .map((token) => ({ token, depth, role: 'property', inFlow, sameLine: true }));
}
