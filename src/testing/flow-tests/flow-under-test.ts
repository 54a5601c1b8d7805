import type { JsonObject } from '../../common/index.js';
import {
  type Definition,
  type Item,
  type Reminder,
  type WorkflowDocument,
  callsOf,
  secretsGiven,
  walkItems,
} from '../../definition/index.js';

/** An item that tests may name: it has an id. */
export interface NamedItem {
  readonly id: string;
  /** Handlers that it calls itself. */
  readonly calls?: string;
  /** Handler that undoes it, or the child workflow that undoes itself. */
  readonly undoneBy?: string;
  readonly isChild: boolean;
  /** Whether it has a `with` that is resolved for it. */
  readonly hasInput: boolean;
  /** In how many loops it stands. */
  readonly loops: number;
}

/** What tests may name of a flow. */
export interface FlowUnderTest {
  readonly definition: Definition;
  readonly document: WorkflowDocument;
  readonly items: ReadonlyMap<string, NamedItem>;
  /** Every handler that it may call: in steps, compensations and reminders. */
  readonly handlers: ReadonlySet<string>;
  readonly children: ReadonlySet<string>;
  /** By signal, the schema of its gates; undefined where they take any payload. */
  readonly signals: ReadonlyMap<string, JsonObject | boolean | undefined>;
  readonly secrets: ReadonlySet<string>;
}

export function flowUnderTest(definition: Definition): FlowUnderTest {
  const { document } = definition;
  const items = new Map<string, NamedItem>();
  const handlers = new Set<string>();
  const children = new Set<string>();
  const signals = new Map<string, JsonObject | boolean | undefined>();
  const secrets = new Set(secretsGiven(document).map(({ name }) => name));
  walkItems(document, ({ item, loops }) => {
    const named = namedItem(item, loops);
    if (named !== undefined) items.set(named.id, named);
    for (const { step } of callsOf(item)) handlers.add(step);
    if ('subWorkflow' in item) children.add(item.subWorkflow);
    if (!('waitFor' in item)) return;
    signals.set(item.waitFor, item.schema);
    const { remind } = item;
    if (remind?.id !== undefined) items.set(remind.id, reminder(remind, remind.id, loops));
  });
  return { definition, document, items, handlers, children, signals, secrets };
}

function namedItem(item: Item, loops: number): NamedItem | undefined {
  if (item.id === undefined) return undefined;
  const base = { id: item.id, loops };
  if ('step' in item) {
    const undoneBy = item.compensate?.step;
    const calls = item.step;
    return { ...base, calls, hasInput: true, isChild: false, ...(undoneBy !== undefined && { undoneBy }) };
  }
  if ('subWorkflow' in item) return { ...base, hasInput: true, isChild: true, undoneBy: item.subWorkflow };
  return { ...base, hasInput: false, isChild: false };
}

/** Each time that a reminder is due is a turn of its own, inside those of its gate. */
function reminder({ step }: Reminder, id: string, loops: number): NamedItem {
  return { id, calls: step, hasInput: true, isChild: false, loops: loops + 1 };
}
