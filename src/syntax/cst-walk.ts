import type { CST } from 'yaml';

/** Where a token of the concrete syntax stands. */
export interface Place {
  readonly token: CST.Token;
  /** Of a collection: 1 for the outermost. */
  readonly depth: number;
  readonly role: 'key' | 'value' | 'property';
  readonly inFlow: boolean;
  /** The key token, of a map's value. */
  readonly owner: CST.Token | undefined;
  /** Of a key: where its colon stands, if it has one. */
  readonly colon: number | undefined;
  /** Of a value: it begins on the line of its key or `-`. */
  readonly sameLine: boolean;
}

/**
 * The first of all tokens that hold values, keys or their properties (tags, anchors) that fits; they are asked in the
 * order of the file. Iterative, so that hostile nesting cannot exhaust the stack; and without a list for each
 * collection, since every token of every file passes here.
 */
export function findPlace(tokens: readonly CST.Token[], fits: (place: Place) => boolean): Place | undefined {
  // What is still to come, the next one last.
  const pending: Place[] = [];
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    push(pending, tokens[index], 0, 'value', false, undefined, undefined, false);
  }
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (fits(place)) return place;
    pushChildren(pending, place);
  }
  return undefined;
}

function pushChildren(pending: Place[], { token, depth, inFlow }: Place): void {
  switch (token.type) {
    case 'document':
      push(pending, token.value, depth + 1, 'value', false, undefined, undefined, false);
      pushProperties(pending, token.start, depth, false);
      return;
    case 'block-map':
    case 'block-seq':
    case 'flow-collection': {
      const flow = inFlow || token.type === 'flow-collection';
      for (let index = token.items.length - 1; index >= 0; index -= 1) {
        const { start, key, sep, value } = token.items[index] as CST.CollectionItem;
        const sameLine = !(sep ?? start).some(({ type }) => type === 'newline');
        push(pending, value, depth + 1, 'value', flow, key ?? undefined, undefined, sameLine);
        if (sep !== undefined) pushProperties(pending, sep, depth, flow);
        push(pending, key, depth + 1, 'key', flow, undefined, colonOf(sep), false);
        pushProperties(pending, start, depth, flow);
      }
      return;
    }
    default:
  }
}

export function colonOf(separators: readonly CST.SourceToken[] = []): number | undefined {
  return separators.find(({ type }) => type === 'map-value-ind')?.offset;
}

function push(
  pending: Place[],
  token: CST.Token | null | undefined,
  depth: number,
  role: Place['role'],
  inFlow: boolean,
  owner: CST.Token | undefined,
  colon: number | undefined,
  sameLine: boolean,
): void {
  if (token !== null && token !== undefined) pending.push({ token, depth, role, inFlow, owner, colon, sameLine });
}

function pushProperties(pending: Place[], tokens: readonly CST.SourceToken[], depth: number, inFlow: boolean): void {
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token?.type === 'tag' || token?.type === 'anchor') {
      push(pending, token, depth, 'property', inFlow, undefined, undefined, true);
    }
  }
}
