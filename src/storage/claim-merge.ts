import type { Claim, RunRecord, RunStatus } from './contract.js';
import { interruptionDelayMs } from './run-rules.js';

/** The due runs of one definition; suspects stand in a queue of their own, so that they hold nobody up. */
export interface ClaimQueue {
  readonly hash: string;
  readonly suspects: boolean;
}

/** What a claim looks at in a run. `owner` is the one whose lease has expired. */
export interface Head {
  readonly run: number;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly dueAt: number;
  readonly owner: string | null;
  readonly interruptions: number;
}

/** The rows behind a claim, all in one transaction. */
export interface ClaimRows {
  /** The first of a queue that is due, as the rows are now. */
  head(queue: ClaimQueue): Head | undefined;
  /** Whether there may be a suspect that was due at `dueBy`: one look, since there hardly ever is one. */
  hasSuspect(dueBy: number): boolean;
  /** What the workflow's limit leaves; infinite without one. */
  freePlaces(workflow: string): number;
  lease(head: Head, interruptions: number): RunRecord;
  /** Takes the expired lease away. */
  postpone(head: Head, interruptions: number, delayMs: number): void;
}

/**
 * A merge of the definitions' queues: always the oldest of their heads, until `limit`, until none is due, or until it
 * comes to a suspect that is overdue.
 */
export function claimFrom(rows: ClaimRows, claim: Claim): RunRecord[] {
  const { hashes, alone, limit, now, overdueSince = Number.NEGATIVE_INFINITY } = claim;
  const heads = new Map<ClaimQueue, Head>();
  const look = (queue: ClaimQueue): void => {
    const head = rows.head(queue);
    if (head === undefined) heads.delete(queue);
    else heads.set(queue, head);
  };
  const hasSuspect = rows.hasSuspect(alone ? now : overdueSince);
  for (const hash of new Set(hashes)) {
    look({ hash, suspects: false });
    if (hasSuspect) look({ hash, suspects: true });
  }
  const places = new Map<string, number>();
  const claimed: RunRecord[] = [];
  while (claimed.length < limit) {
    const oldest = oldestOf(heads);
    if (oldest === undefined) break;
    const [queue, head] = oldest;
    const free = places.get(head.workflow) ?? rows.freePlaces(head.workflow);
    places.set(head.workflow, free);
    const canTake = !queue.suspects || (alone && claimed.length === 0);
    if (free <= 0 || (!canTake && head.dueAt > overdueSince)) {
      heads.delete(queue);
      continue;
    }
    const isInterrupted = head.owner !== null;
    const interruptions = head.interruptions + (isInterrupted ? 1 : 0);
    const delayMs = isInterrupted ? interruptionDelayMs(interruptions) : 0;
    if (delayMs > 0) {
      rows.postpone(head, interruptions, delayMs);
    } else {
      if (canTake) claimed.push(rows.lease(head, interruptions));
      // Taken, it stays alone; else what is younger waits for it.
      if (queue.suspects) break;
      places.set(head.workflow, free - 1);
    }
    look(queue);
  }
  return claimed;
}

function oldestOf(heads: ReadonlyMap<ClaimQueue, Head>): [ClaimQueue, Head] | undefined {
  let oldest: [ClaimQueue, Head] | undefined;
  for (const entry of heads) {
    const head = entry[1];
    const best = oldest?.[1];
    if (best === undefined || head.dueAt < best.dueAt || (head.dueAt === best.dueAt && head.run < best.run)) {
      oldest = entry;
    }
  }
  return oldest;
}
