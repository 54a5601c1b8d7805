import type { RetentionQuery } from '../contract.js';
import { type Candidate, type Node, type RetentionSql, TreeWalk, mostBytes, mostRows } from './retention-sql.js';

/** How retention reaches the database. */
export interface RetentionAccess {
  readonly sql: RetentionSql;
  /** Reads outside of a transaction; `query` may be asked again. */
  read<T>(query: () => T): Promise<T>;
  /** Runs `apply` in a transaction of its own. */
  write<T>(apply: () => T): Promise<T>;
  /** Lets everybody else have a turn: this event loop, and writers elsewhere that try for the lock. */
  pause(): Promise<void>;
}

/** What is done with the runs. */
export interface Disposal {
  readonly alsoArchived: boolean;
  /** Of a tree that is too large for one transaction the root goes first, out of everybody's sight; or last. */
  readonly rootFirst: boolean;
  /** Inside a transaction; answers how many runs it concerned. */
  apply(nodes: readonly Node[]): number;
}

const nodesPerTurn = 500;

/**
 * Disposes of finished trees, oldest end first, in transactions of bounded size. What is to go is found by reading;
 * the transaction looks again, since a failed run may have been resumed meanwhile.
 */
export async function dispose(access: RetentionAccess, query: RetentionQuery, disposal: Disposal): Promise<number> {
  let count = 0;
  let seen = 0;
  const batch = new Portion<Node[]>();
  const flush = async (): Promise<void> => {
    const trees = batch.take();
    if (trees.length > 0) count += await inOneTransaction(access, trees, disposal);
  };
  for await (const tree of finishedTrees(access, query, disposal)) {
    if (seen > 0 && seen + tree.length > query.limit) break;
    seen += tree.length;
    const bytes = tree.reduce((sum, node) => sum + node.bytes, 0);
    if (tree.length <= mostRows && bytes <= mostBytes) {
      if (!batch.fits(tree.length, bytes)) await flush();
      batch.add(tree, tree.length, bytes);
    } else {
      count += await inSeveralTransactions(access, tree, disposal);
    }
    if (seen >= query.limit) break;
  }
  await flush();
  return count;
}

async function* finishedTrees(
  access: RetentionAccess,
  { endedBefore, statuses, limit }: RetentionQuery,
  { alsoArchived }: Disposal,
): AsyncGenerator<Node[]> {
  if (limit <= 0) return;
  const isWanted = ({ isRoot, status }: Candidate): boolean =>
    isRoot === 1 && (statuses === undefined || (statuses as readonly string[]).includes(status));
  let last: Candidate | undefined;
  do {
    const page = await access.read(() => access.sql.candidates(endedBefore, last, { alsoArchived }));
    last = page.at(-1);
    for (const root of page.filter(isWanted)) {
      const tree = await treeOf(access, root);
      if (tree !== undefined) yield tree;
    }
    await nextTurn();
  } while (last !== undefined);
}

/** Undefined if something in it is not to go. */
async function treeOf({ sql, read }: RetentionAccess, root: Node): Promise<Node[] | undefined> {
  const walk = new TreeWalk(sql, root);
  let turnEndsAt = nodesPerTurn;
  while (await read(() => walk.step())) {
    if (walk.nodes.length < turnEndsAt) continue;
    turnEndsAt = walk.nodes.length + nodesPerTurn;
    await nextTurn();
  }
  return walk.isUnsettled || (await read(() => walk.isNeeded)) ? undefined : walk.nodes;
}

async function inOneTransaction(
  { sql, write, pause }: RetentionAccess,
  trees: readonly Node[][],
  { apply }: Disposal,
): Promise<number> {
  const count = await write(() => {
    let done = 0;
    for (const [root] of trees) {
      const current = root === undefined ? undefined : sql.node(root.run);
      if (current === undefined) continue;
      const walk = new TreeWalk(sql, current);
      while (walk.step());
      if (!walk.isUnsettled && !walk.isNeeded) done += apply(walk.nodes);
    }
    return done;
  });
  await pause();
  return count;
}

/** All but the root are out of everybody's reach: nothing owns them that could go on. */
async function inSeveralTransactions(
  { sql, write, pause }: RetentionAccess,
  tree: readonly Node[],
  { apply, rootFirst }: Disposal,
): Promise<number> {
  const [root] = tree;
  const chunks = chunksOf(rootFirst ? tree : tree.toReversed());
  let count = 0;
  for (const [index, chunk] of chunks.entries()) {
    const done = await write(() => {
      const isFirst = index === 0;
      const current = root === undefined || (rootFirst && !isFirst) ? root : sql.node(root.run);
      return current?.resumedBy === root?.resumedBy && current?.endedAt === root?.endedAt ? apply(chunk) : undefined;
    });
    if (done === undefined) break;
    count += done;
    await pause();
  }
  return count;
}

function chunksOf(nodes: readonly Node[]): Node[][] {
  const chunks: Node[][] = [];
  const portion = new Portion<Node>();
  for (const node of nodes) {
    if (!portion.fits(1, node.bytes)) chunks.push(portion.take());
    portion.add(node, 1, node.bytes);
  }
  return [...chunks, portion.take()];
}

/** What one transaction may touch; a single thing always fits. */
class Portion<T> {
  #things: T[] = [];
  #rows = 0;
  #bytes = 0;

  fits(rows: number, bytes: number): boolean {
    return this.#things.length === 0 || (this.#rows + rows <= mostRows && this.#bytes + bytes <= mostBytes);
  }

  add(thing: T, rows: number, bytes: number): void {
    this.#things.push(thing);
    this.#rows += rows;
    this.#bytes += bytes;
  }

  take(): T[] {
    const things = this.#things;
    [this.#things, this.#rows, this.#bytes] = [[], 0, 0];
    return things;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
