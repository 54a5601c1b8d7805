import { z } from 'zod';
import {
  type JsonObject,
  type JsonValue,
  RunsheetError,
  checkOptions,
  instantText,
  writeDuration,
} from '../../common/index.js';
import { type Definition, type Items, bodiesOf, definitionFromCanonical } from '../../definition/index.js';
import { type Run, type RunHistory, readHistory } from '../../engine/index.js';
import { type InboxMessage, type JournalRow, type Storage, terminalStatuses } from '../../storage/index.js';
import { writeYaml } from '../../syntax/index.js';
import { flowUnderTest } from '../flow-tests/index.js';
import { type RecordedCall, recordedCalls } from './recorded-calls.js';

export interface FlowTestFromRunOptions {
  /** What stands under `workflow`; default: the name of the run's workflow. */
  readonly workflow?: string;
  /** Where the editor finds the schema of flow tests. */
  readonly schema?: string;
}

const optionsSchema = z.object({
  id: z.string().min(1),
  options: z.strictObject({ workflow: z.string().optional(), schema: z.string().optional() }),
});

/**
 * Writes a file of flow tests with one test, which repeats a run: its input, what handlers and children answered (call
 * by call, with failures and how long they took), signals, a cancellation and what an operator decided at their times,
 * and how it ended.
 *
 * What a run makes of its own id and of random numbers is another in every run; an output that holds the id is left out.
 *
 * @throws RunsheetError `RS_RUN_UNKNOWN` if there is no such run, `RS_OPTIONS_INVALID` saying why none can be made of it
 */
export async function flowTestFromRun(
  storage: Storage,
  id: string,
  options: FlowTestFromRunOptions = {},
): Promise<string> {
  checkOptions('flowTestFromRun', optionsSchema, { id, options });
  const record = await storage.getRun(id);
  if (record === undefined) throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${id}`);
  const stored = await storage.readDefinition(record.definitionHash);
  if (stored === undefined) throw cannot(id, 'its definition is not stored');
  const definition = definitionFromCanonical(stored.document);
  const journal = await storage.readJournal(record.run, 0, Number.MAX_SAFE_INTEGER);
  const inbox = await storage.readInbox(record.run, 0);
  const history = await readHistory(storage, record);
  assertRepeatable(history.run);
  const test = testOf({ definition, journal, inbox, history });
  const head = [
    ...(options.schema === undefined ? [] : [`# yaml-language-server: $schema=${options.schema}`]),
    `# Made from the run ${id}.`,
  ];
  return `${head.join('\n')}\n${writeYaml({ workflow: options.workflow ?? definition.name, tests: [test] })}`;
}

function cannot(id: string, why: string): RunsheetError {
  return new RunsheetError('RS_OPTIONS_INVALID', `no test can be made of ${id}: ${why}`);
}

function assertRepeatable({ id, status, startedAt, resumedFrom }: Run): void {
  const isOver = terminalStatuses.some((each) => each === status) || status === 'compensation-stuck';
  if (!isOver || startedAt === null) throw cannot(id, `it is ${status}; wait until it has ended`);
  if (resumedFrom !== null) throw cannot(id, `it goes on with what ${resumedFrom} did; make the test of that one`);
}

interface Recording {
  readonly definition: Definition;
  readonly journal: readonly JournalRow[];
  readonly inbox: readonly InboxMessage[];
  readonly history: RunHistory;
}

function testOf({ definition, journal, inbox, history }: Recording): JsonObject {
  const { run } = history;
  const startedAt = run.startedAt ?? 0;
  const calls = recordedCalls(journal, definition);
  const signals = inbox.filter(({ kind }) => kind === 'signal').map((message) => signalOf(message, startedAt));
  const cancel = inbox.find(({ kind }) => kind === 'cancel');
  const decisions = inbox
    .filter(({ kind }) => kind === 'operator')
    .map(({ name, at }) => ({ at: since(at, startedAt), decide: name }));
  const secrets = [...flowUnderTest(definition).secrets];
  return {
    name: `as in the run ${run.id}`,
    now: instantText(startedAt),
    input: run.input,
    ...answers(
      'handlers',
      calls.filter(({ kind }) => kind === 'handler'),
    ),
    ...answers(
      'children',
      calls.filter(({ kind }) => kind === 'child'),
    ),
    ...(signals.length > 0 && { signals }),
    ...(cancel !== undefined && { cancel: cancelOf(cancel, startedAt) }),
    ...(decisions.length > 0 && { compensation: decisions }),
    ...(secrets.length > 0 && { secrets: Object.fromEntries(secrets.map((name) => [name, 'secret'])) }),
    expect: expectationOf(history, calls, sideBySide(definition)),
  };
}

function since(at: number, startedAt: number): string {
  return writeDuration(Math.max(0, at - startedAt));
}

function signalOf({ name, payload, at }: InboxMessage, startedAt: number): JsonObject {
  return {
    at: since(at, startedAt),
    name: name ?? '',
    ...(payload !== null && { payload: JSON.parse(payload) as JsonValue }),
  };
}

function cancelOf({ payload, at }: InboxMessage, startedAt: number): JsonObject {
  const { compensate = true } = JSON.parse(payload ?? '{}') as { compensate?: boolean };
  return { at: since(at, startedAt), ...(!compensate && { compensate }) };
}

/** By name, one answer for each call, or a single one where all are alike from some call on. */
function answers(key: 'handlers' | 'children', calls: readonly RecordedCall[]): JsonObject {
  const scripts = new Map<string, JsonObject[]>();
  for (const call of calls) scripts.set(call.name, [...(scripts.get(call.name) ?? []), replyOf(call)]);
  if (scripts.size === 0) return {};
  return { [key]: Object.fromEntries([...scripts].map(([name, replies]) => [name, shortened(replies)])) };
}

/** The last answer of a list repeats. */
function shortened(replies: readonly JsonObject[]): JsonValue {
  const same = (a: JsonObject | undefined, b: JsonObject | undefined): boolean =>
    JSON.stringify(a) === JSON.stringify(b);
  let length = replies.length;
  while (length > 1 && same(replies[length - 1], replies[length - 2])) length -= 1;
  const [only] = replies;
  return length === 1 && only !== undefined ? only : replies.slice(0, length);
}

/** Longer than any call may take that something else has ended. */
const neverOver = '365d';

function replyOf({ at, end }: RecordedCall): JsonObject {
  if (end === undefined || end.cutShort) return { takes: neverOver };
  const took = end.at - at;
  const takes = took > 0 ? { takes: writeDuration(took) } : {};
  if (end.error === undefined) return { ...takes, ...(end.value !== undefined && { returns: end.value }) };
  const { name, message, details } = end.error;
  return {
    ...takes,
    throws: {
      name,
      ...(message !== name && { message }),
      ...(details !== null && { details }),
      ...(end.noEffect && { noEffect: true }),
      ...(end.final && { nonRetryable: true }),
    },
  };
}

function expectationOf(
  { run, steps, reversals }: RunHistory,
  calls: readonly RecordedCall[],
  concurrent: ReadonlySet<string>,
): JsonObject {
  const ran = steps
    .filter(({ kind, step }) => kind !== 'skipped' && !step.includes('@') && !concurrent.has(step))
    .map(({ step }) => step);
  const undone = reversals.filter(({ state }) => state === 'undone');
  const counts = new Map<string, number>();
  for (const { kind, name } of calls) if (kind === 'handler') counts.set(name, (counts.get(name) ?? 0) + 1);
  const holdsId = JSON.stringify(run.output).includes(run.id);
  return {
    status: run.status,
    ...(run.error !== null && run.status === 'failed' && { error: errorOf(run) }),
    ...(run.rollbackStatus !== null && { rollback: run.rollbackStatus }),
    ...(ran.length > 0 && { ran }),
    // A child that was undone is one that was run; in a test it is answered.
    ...(undone.length > 0 &&
      undone.every(({ handler }) => handler !== null) && { compensated: undone.map(({ step }) => step) }),
    ...(counts.size > 0 && { calls: Object.fromEntries(counts) }),
    ...(run.status === 'completed' && !holdsId && { output: run.output }),
  };
}

function errorOf({ id, error }: Run): JsonObject {
  const { name = '', message = '', step = null } = error ?? {};
  return { name, ...(!message.includes(id) && { message }), ...(step !== null && { step }) };
}

/** Ids of items that run beside others: in which order they begin may be another each time. */
function sideBySide({ document }: Definition): Set<string> {
  const found = new Set<string>();
  const visit = (list: Items, isConcurrent: boolean): void => {
    for (const item of list) {
      if (isConcurrent && item.id !== undefined) found.add(item.id);
      const splits = 'parallel' in item || ('forEach' in item && (item.concurrency ?? 1) > 1);
      for (const body of bodiesOf(item)) visit(body.list, isConcurrent || (splits && body.path[0] !== 'onError'));
    }
  };
  visit(document.steps, false);
  visit(document.onFailure ?? [], false);
  visit(document.finally ?? [], false);
  return found;
}
