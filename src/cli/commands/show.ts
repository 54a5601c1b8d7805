import { type DescribedError, type JsonValue, cutTo, errorText, isJsonObject } from '../../common/index.js';
import type { Run, RunHistory } from '../../engine/index.js';
import type { RunRecord, Storage } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { findRun } from '../find-run.js';
import { type Io, wantsColor } from '../io.js';
import { nextCommands } from '../next-commands.js';
import { journalOf } from '../logs/follow.js';
import { flowLine } from '../show/flow-line.js';
import { limitText, limitsOf } from '../show/limits.js';
import { type ItemValues, type TreeOptions, stepTree, unwindTable } from '../show/step-tree.js';
import { waitsFor } from '../show/waits-text.js';
import { commandLines, hanging } from '../terminal-text.js';
import { durationText, oneLine, printedJson, shortJson, timeText } from '../text.js';

export interface ShowOptions {
  /** Whose key it is. */
  readonly workflow?: string;
  readonly json: boolean;
  /** Cut and fold nothing. */
  readonly full: boolean;
  readonly db?: string;
}

/** Shows all that is known of one run. */
export async function show(idOrKey: string, options: ShowOptions, io: Io): Promise<ExitCode> {
  const { readHistory } = await import('../../engine/index.js');
  const now = io.clock.now();
  const { history, values, nobodyDrives, next, text } = await withExistingStorage(options.db, io, async (storage) => {
    const record = await findRun(storage, idOrKey, options.workflow);
    const found = await readHistory(storage, record);
    const stored = found.run.error === null ? undefined : await storage.readDefinition(record.definitionHash);
    const values = await valuesOf(storage, record);
    const { othersAlive } = found.drivenUntil === null ? { othersAlive: false } : await storage.survey(nobody, [], now);
    return {
      history: found,
      values,
      nobodyDrives: !othersAlive,
      next: await nextCommands(storage, found, { db: options.db }),
      text: stored?.source ?? null,
    };
  });
  const waits = waitsFor(history, now, { nobodyDrives });
  const shown: Shown = { history, waits, limits: limitsOf(history), next, text };
  if (options.json) {
    const { run, steps, reversals } = history;
    const { waits, limits } = shown;
    io.data(`${printedJson({ version: 1, run, steps, reversals, waitsFor: waits, limits, next })}\n`);
  } else {
    const columns = io.outIsTerminal ? io.terminalSize().columns : undefined;
    const color = wantsColor(io, io.outIsTerminal);
    io.out(describe(shown, now, { full: options.full, color, columns, db: options.db, values }));
  }
  return exitCodes.fine;
}

/** What was settled without calling anything. */
async function valuesOf(storage: Storage, { run }: RunRecord): Promise<ItemValues> {
  const values = new Map<string, { occurrence: string; value: JsonValue }[]>();
  for await (const rows of journalOf(storage, run)) {
    for (const { kind, aspect, step, occurrence, payload } of rows) {
      if (kind !== 'decision' || aspect !== 'value' || step === null || payload === null) continue;
      const { value } = JSON.parse(payload) as { value?: JsonValue };
      if (value === undefined) continue;
      values.set(step, [...(values.get(step) ?? []), { occurrence: occurrence ?? '0', value }]);
    }
  }
  return values;
}

/** Who asks is an engine with a name; one who only looks has none. */
const nobody = 'runsheet show';

interface Shown {
  readonly history: RunHistory;
  readonly waits: readonly string[];
  readonly limits: ReturnType<typeof limitsOf>;
  readonly next: readonly string[];
  /** The flow as it was written, where that is stored. */
  readonly text: string | null;
}

function describe({ history, waits, limits, next, text }: Shown, now: number, options: TreeOptions): string {
  const { run } = history;
  const key = run.key === null ? '' : ` (key ${run.key})`;
  const json = (value: JsonValue): string =>
    options.full ? printedJson(value) : shortJson(value, 160, '--full shows all');
  const facts: (readonly [string, string])[] = [
    ...labelled('error', errorLines(history, text)),
    ['status', statusText(run)],
    ...(run.parentId === null ? [] : [['parent', run.parentId] as const]),
    ...(run.resumedFrom === null ? [] : [['took over', run.resumedFrom] as const]),
    ...(run.resumedBy === null ? [] : [['goes on as', run.resumedBy] as const]),
    ['created', timeText(run.createdAt)],
    ...(run.startedAt === null ? [] : [['started', timeText(run.startedAt)] as const]),
    ...(run.endedAt === null ? [] : [['ended', endText(run.startedAt, run.endedAt)] as const]),
    ['input', json(run.input)],
    ...(run.output === null ? [] : [['output', json(run.output)] as const]),
    ...labelled('waits for', waits),
    ...labelled(
      'has time',
      limits.map((limit) => limitText(limit, now)),
    ),
    ...labelled('next', next),
  ];
  const head = hanging(oneLine(`${run.id} ${run.workflow} revision ${run.revision}${key}`), options.columns, 2);
  return `${head}\n${factsText(facts, options)}${stepTree(history, options)}${unwindTable(history, options)}`;
}

/** Texts go on below where they began, commands are broken as a shell takes them, and data is cut. */
function factsText(facts: readonly (readonly [string, string])[], { columns, full }: TreeOptions): string {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  let field = '';
  const lines = facts.flatMap(([label, given]) => {
    if (label !== '') field = label;
    const prefix = label.padEnd(width);
    const text = oneLine(given);
    if (columns === undefined) return [prefix + text];
    if (field === 'input' || field === 'output') return [full ? prefix + text : cutTo(prefix + text, columns)];
    if (field !== 'next') return [hanging(prefix + text, columns, width + (/^ */.exec(text)?.[0].length ?? 0))];
    return commandLines(text, columns, width).map((line, index) => (index === 0 ? prefix + line.trimStart() : line));
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** The first line has the label, the others stand below it. */
function labelled(label: string, lines: readonly string[]): (readonly [string, string])[] {
  return lines.map((line, index) => [index === 0 ? label : '', line]);
}

/** What the run failed with, what that came from, and where it stands in the flow. */
function errorLines({ run: { error }, document }: RunHistory, text: string | null): string[] {
  if (error === null) return [];
  const { step, attempt, details } = error;
  const place = step === null ? '' : attempt === null ? ` (in ${step})` : ` (in ${step}, attempt ${attempt})`;
  const line = step === null || document === null || text === null ? undefined : flowLine(document, text, step);
  return [
    `${errorText(error)}${place}`,
    ...(line === undefined ? [] : [`  at ${line}`]),
    ...causes(details).map((cause) => `  caused by ${cause}`),
  ];
}

/** The error that another one came in place of, or that of a child; then what that came from. */
function causes(details: JsonValue): string[] {
  if (!isJsonObject(details)) return [];
  const cause = isJsonObject(details.cause) ? details.cause : details.error;
  const error = describedError(cause);
  if (!isJsonObject(cause) || error === undefined) return [];
  const place = typeof cause.step === 'string' ? ` (in ${cause.step})` : '';
  return [`${errorText(error)}${place}`, ...causes(cause.details ?? null)];
}

/** Details hold what authors and handlers like. */
function describedError(value: JsonValue | undefined): DescribedError | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string') return undefined;
  const cause = describedError(value.cause);
  const message = typeof value.message === 'string' ? value.message : '';
  return { name: value.name, message, ...(cause !== undefined && { cause }) };
}

function statusText({ status, rollbackStatus }: Run): string {
  const isOfInterest = rollbackStatus !== null && rollbackStatus !== 'not-applicable';
  return isOfInterest ? `${status}, rollback ${rollbackStatus}` : status;
}

function endText(startedAt: number | null, endedAt: number): string {
  return startedAt === null ? timeText(endedAt) : `${timeText(endedAt)}, after ${durationText(endedAt - startedAt)}`;
}
