import { type JsonValue, RunsheetError } from '../common/index.js';
import { type Definition, type WaitForItem, compileSchema, problemsText, walkItems } from '../definition/index.js';
import type { InboxGuard, InboxView } from '../storage/index.js';
import { isClosed, itemsOnWay, waysToGates } from './gate-ways.js';
import { nearest } from '../syntax/index.js';

/** The gates of a workflow that wait for one signal. All have the same schema, and lie all inside or all outside loops. */
export interface SignalGates {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly item: WaitForItem }[];
  readonly inLoops: boolean;
}

/** @throws RunsheetError `RS_SIGNAL_UNKNOWN` naming the signals there are */
export function gatesOf(definition: Definition, name: string): SignalGates {
  const items: { key: string; item: WaitForItem }[] = [];
  const names = new Set<string>();
  let inLoops = false;
  walkItems(definition.document, ({ item, key, inLoop }) => {
    if (!('waitFor' in item)) return;
    names.add(item.waitFor);
    if (item.waitFor !== name) return;
    items.push({ key, item });
    inLoops ||= inLoop;
  });
  if (items.length > 0) return { name, items, inLoops };
  throw new RunsheetError(
    'RS_SIGNAL_UNKNOWN',
    `${definition.name} waits for no signal ${JSON.stringify(name)}${remedyFor(name, [...names])}`,
  );
}

function remedyFor(name: string, known: readonly string[]): string {
  if (known.length === 0) return ', nor for any other';
  const near = nearest(name, known);
  return near === undefined ? `, but for ${[...known].sort().join(', ')}` : `; did you mean ${near}?`;
}

/** @throws RunsheetError `RS_SIGNAL_INVALID` naming each field */
export function checkPayload({ name, items }: SignalGates, payload: JsonValue): void {
  const schema = items[0]?.item.schema;
  if (schema === undefined) return;
  const problems = compileSchema(schema)(payload);
  if (problems.length === 0) return;
  throw new RunsheetError('RS_SIGNAL_INVALID', `the payload of ${name} does not fit: ${problemsText(problems)}`);
}

/** Refuses, in the transaction that would store it, a signal that nobody would ever take. */
export function signalGuard(gates: SignalGates, definition: Definition): InboxGuard<RunsheetError> {
  const ways = waysToGates(definition, gates.name);
  return {
    steps: [...new Set(ways.flatMap(itemsOnWay))],
    refuse: (view) =>
      (gates.inLoops ? undefined : (alreadyDelivered(gates, view) ?? tooLate(gates, view))) ??
      (ways.every((way) => isClosed(way, view)) ? isOver(gates, view) : undefined),
  };
}

function isOver({ name }: SignalGates, { run }: InboxView): RunsheetError {
  return new RunsheetError(
    'RS_SIGNAL_TOO_LATE',
    `${run.id} no longer waits for ${name}, nor will it: it has gone past where it does`,
  );
}

function alreadyDelivered(
  { name, items }: SignalGates,
  { messages, entries, run }: InboxView,
): RunsheetError | undefined {
  const filtered = items.some(({ item }) => item.filter !== undefined);
  const delivered = filtered
    ? entries.some(({ kind, step }) => kind === 'signal-consumed' && items.some(({ key }) => key === step))
    : messages.some((message) => message.kind === 'signal' && message.name === name);
  if (!delivered) return undefined;
  return new RunsheetError(
    'RS_SIGNAL_ALREADY_DELIVERED',
    `${name} was delivered to ${run.id} before, and the first delivery counts`,
  );
}

/** Every gate of the name was opened and is past its deadline, or was decided without an answer. */
function tooLate({ name, items }: SignalGates, { entries, run, now }: InboxView): RunsheetError | undefined {
  const isPast = ({ key }: { key: string }): boolean => {
    const own = entries.filter(({ step }) => step === key);
    if (own.some(({ kind, aspect }) => kind === 'timer-fired' && aspect === 'gate')) return true;
    const opened = own.find(({ kind, aspect }) => kind === 'decision' && aspect === 'gate');
    const { value } = JSON.parse(opened?.payload ?? '{}') as { value?: { deadline?: number } };
    return value?.deadline !== undefined && value.deadline < now;
  };
  // A gate that is not reached yet is one to come; only exclusive gates share a name, so one that is past is enough.
  if (!items.some(isPast)) return undefined;
  return new RunsheetError('RS_SIGNAL_TOO_LATE', `${run.id} no longer waits for ${name}: its time is over`);
}
