import type { JsonValue } from '../../common/index.js';
import { type Definition, type Item, type RetryPolicy, walkItems, itemKey } from '../../definition/index.js';
import type { JournalRow } from '../../storage/index.js';

/** A call as the journal tells it: of a handler, or of a child workflow. */
export interface RecordedCall {
  readonly kind: 'handler' | 'child';
  /** Of the handler, or of the child workflow. */
  readonly name: string;
  readonly at: number;
  /** Absent where it was still under way. */
  readonly end?: CallEnd;
}

export interface CallEnd {
  readonly at: number;
  readonly error?: RecordedError;
  /** Absent where the call gave nothing. */
  readonly value?: JsonValue;
  readonly noEffect: boolean;
  /** Something else has ended it. */
  readonly cutShort: boolean;
  /** It failed for good though the policy of its step had tries left. */
  readonly final: boolean;
}

export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly attempt: number | null;
  readonly details: JsonValue;
}

type Growing = { -readonly [Key in keyof RecordedCall]: RecordedCall[Key] };

/**
 * The calls of a run in the order in which they began. A call that a crash cut short is the one that repeated it: it
 * uses up no answer of a test.
 */
export function recordedCalls(journal: readonly JournalRow[], definition: Definition): RecordedCall[] {
  const called = calledBy(definition);
  const calls = new Map<string, Growing>();
  for (const row of journal) {
    const { kind, step, occurrence, aspect, at } = row;
    if (step === null) continue;
    const place = `${step}\n${occurrence}\n${kind.startsWith('child-') ? 'child' : aspect}`;
    const read = JSON.parse(row.payload ?? '{}') as Payload;
    const known = calls.get(place);
    switch (kind) {
      case 'step-started':
      case 'compensation-started': {
        const name = kind === 'step-started' ? called.forward.get(step) : called.backward.get(step);
        if (known === undefined && name !== undefined) calls.set(place, { kind: 'handler', name, at });
        else if (known !== undefined && read.restart !== true) delete known.end;
        break;
      }
      case 'child-started':
        calls.set(place, { kind: 'child', name: read.workflow ?? '', at });
        break;
      case 'step-completed':
      case 'compensation-completed':
        if (known !== undefined) known.end = ended(at, read, false);
        break;
      case 'child-settled':
        if (known !== undefined) known.end = ended(at, read.status === 'completed' ? output(read) : read, false);
        break;
      case 'step-failed':
      case 'compensation-failed':
        if (known !== undefined)
          known.end = ended(at, read, (read.error?.attempt ?? 0) < called.attemptsOf(step, kind));
        break;
      case 'step-retrying':
        if (known?.end !== undefined) known.end = { ...known.end, final: false };
    }
  }
  return [...calls.values()];
}

function output({ output: value }: Payload): Payload {
  return value === undefined || value === null ? {} : { value };
}

function ended(at: number, { error, value, effect, status }: Payload, final: boolean): CallEnd {
  return {
    at,
    ...(error !== undefined && error !== null && { error }),
    ...(value !== undefined && { value }),
    noEffect: effect === 'none',
    cutShort: status === 'cancelled' || (error?.name === 'Cancelled' && effect !== undefined),
    final: final && error !== undefined,
  };
}

interface Called {
  /** Handler by the key of the item that calls it. */
  readonly forward: ReadonlyMap<string, string>;
  readonly backward: ReadonlyMap<string, string>;
  attemptsOf(step: string, kind: 'step-failed' | 'compensation-failed'): number;
}

function calledBy({ document }: Definition): Called {
  const forward = new Map<string, string>();
  const backward = new Map<string, string>();
  const items = new Map<string, Item>();
  walkItems(document, ({ item, key, place }) => {
    items.set(key, item);
    if ('step' in item) forward.set(key, item.step);
    if ('step' in item && item.compensate !== undefined) backward.set(key, item.compensate.step);
    if ('waitFor' in item && item.remind !== undefined) {
      forward.set(itemKey(item.remind, `${place}.remind`), item.remind.step);
    }
  });
  const attempts = (retry: RetryPolicy | string | undefined): number => {
    const policy = typeof retry === 'string' ? document.retryPolicies?.[retry] : retry;
    return policy === undefined ? defaultAttempts : (policy.attempts ?? defaultAttempts);
  };
  return {
    forward,
    backward,
    attemptsOf(step, kind) {
      const item = items.get(step);
      if (item === undefined || !('step' in item)) return defaultAttempts;
      if (kind === 'compensation-failed') return attempts(item.compensate?.retry);
      return attempts(item.retry ?? document.defaults?.retry);
    },
  };
}

/** Of a retry policy that does not say. */
const defaultAttempts = 3;

/** What the entries of calls hold, each some of it. */
interface Payload {
  readonly restart?: true;
  readonly workflow?: string;
  readonly status?: string;
  readonly value?: JsonValue;
  readonly output?: JsonValue;
  readonly error?: RecordedError | null;
  readonly effect?: 'none' | 'failed' | 'unknown';
}
