import type { HistoryError, ReversalHistory, Run, RunHistory, StepHistory } from '../../engine/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { findRun } from '../find-run.js';
import type { Io } from '../io.js';
import { nextCommands } from '../next-commands.js';
import { durationText, placeText, shortJson, table, timeText } from '../text.js';
import { waitsFor } from '../waits-text.js';

export interface ShowOptions {
  /** Whose key it is. */
  readonly workflow?: string;
  readonly json: boolean;
  readonly db?: string;
}

/** Steps shown to people; of a longer run the last ones. */
const mostSteps = 200;

/** Shows all that is known of one run. */
export async function show(idOrKey: string, options: ShowOptions, io: Io): Promise<ExitCode> {
  const { readHistory } = await import('../../engine/index.js');
  const { history, next } = await withExistingStorage(options.db, io, async (storage) => {
    const found = await readHistory(storage, await findRun(storage, idOrKey, options.workflow));
    return { history: found, next: await nextCommands(storage, found, { db: options.db }) };
  });
  const waits = waitsFor(history, io.clock.now());
  if (options.json) {
    const { run, steps, reversals } = history;
    io.out(`${JSON.stringify({ version: 1, run, steps, reversals, waitsFor: waits, next })}\n`);
  } else {
    io.out(describe(history, waits, next));
  }
  return exitCodes.fine;
}

function describe({ run, steps, reversals }: RunHistory, waits: readonly string[], next: readonly string[]): string {
  const key = run.key === null ? '' : ` (key ${run.key})`;
  const facts: (readonly [string, string])[] = [
    ...(run.error === null ? [] : [['error', failureText(run.error)] as const]),
    ['status', statusText(run)],
    ...(run.parentId === null ? [] : [['parent', run.parentId] as const]),
    ...(run.resumedFrom === null ? [] : [['took over', run.resumedFrom] as const]),
    ...(run.resumedBy === null ? [] : [['goes on as', run.resumedBy] as const]),
    ['created', timeText(run.createdAt)],
    ...(run.startedAt === null ? [] : [['started', timeText(run.startedAt)] as const]),
    ...(run.endedAt === null ? [] : [['ended', endText(run.startedAt, run.endedAt)] as const]),
    ['input', shortJson(run.input)],
    ...(run.output === null ? [] : [['output', shortJson(run.output)] as const]),
    ...labelled('waits for', waits),
    ...labelled('next', next),
  ];
  const head = `${run.id} ${run.workflow} revision ${run.revision}${key}\n${table(facts)}`;
  return `${head}${stepsText(steps)}${unwindText(reversals)}`;
}

/** The first line has the label, the others stand below it. */
function labelled(label: string, lines: readonly string[]): (readonly [string, string])[] {
  return lines.map((line, index) => [index === 0 ? label : '', line]);
}

function failureText({ name, message, step, attempt }: NonNullable<Run['error']>): string {
  const place = step === null ? '' : attempt === null ? ` (in ${step})` : ` (in ${step}, attempt ${attempt})`;
  return `${name}: ${message.replace(/\s+/g, ' ')}${place}`;
}

function statusText({ status, rollbackStatus }: Run): string {
  const isOfInterest = rollbackStatus !== null && rollbackStatus !== 'not-applicable';
  return isOfInterest ? `${status}, rollback ${rollbackStatus}` : status;
}

function endText(startedAt: number | null, endedAt: number): string {
  return startedAt === null ? timeText(endedAt) : `${timeText(endedAt)}, after ${durationText(endedAt - startedAt)}`;
}

function stepsText(steps: readonly StepHistory[]): string {
  if (steps.length === 0) return '';
  const shown = steps.slice(-mostSteps);
  const left = steps.length - shown.length;
  const note = left === 0 ? '' : `the last ${shown.length} of ${steps.length} (--json shows all)\n`;
  const rows = shown.map((step) => ({ cells: stepRow(step), details: stepDetails(step) }));
  return `\n${note}${detailedTable(['STEP', 'STATE', 'ATTEMPTS', 'STARTED', 'TOOK'], rows)}`;
}

function stepRow(step: StepHistory): string[] {
  const { startedAt, endedAt } = step;
  const took = endedAt === undefined || step.kind === 'skipped' ? '' : durationText(endedAt - startedAt);
  return [placeText(step.step, step.occurrence), step.state, attemptsText(step), timeText(startedAt), took];
}

function attemptsText(calls: object): string {
  const { attempts = 0, interruptions = 0 } = calls as { attempts?: number; interruptions?: number };
  if (attempts === 0) return '';
  return interruptions === 0 ? String(attempts) : `${attempts} (${interruptions} interrupted)`;
}

function stepDetails(step: StepHistory): string[] {
  switch (step.kind) {
    case 'step':
      return [...errorDetail(step.error), ...jsonDetail('input', step.input), ...jsonDetail('output', step.output)];
    case 'gate':
      return [`signal  ${step.signal}`, ...jsonDetail('output', step.output)];
    case 'child': {
      const status = step.status === null ? 'gone' : step.status;
      const child = `child   ${step.run} ${step.workflow}, ${status}`;
      return [...errorDetail(step.error), child, ...jsonDetail('output', step.output)];
    }
    case 'sleep':
    case 'skipped':
      return [];
  }
}

function unwindText(reversals: readonly ReversalHistory[]): string {
  if (reversals.length === 0) return '';
  const rows = reversals.map((reversal) => {
    const { step, occurrence, state, startedAt, endedAt, handler, run, why, error, input, output } = reversal;
    const started = startedAt === undefined ? '' : timeText(startedAt);
    const took = startedAt === undefined || endedAt === undefined ? '' : durationText(endedAt - startedAt);
    return {
      cells: [placeText(step, occurrence), state, attemptsText(reversal), started, took],
      details: [
        ...errorDetail(error),
        handler === null ? `child   ${run}` : `by      ${handler}`,
        ...(why === undefined ? [] : [`why     ${why}`]),
        ...jsonDetail('input', input),
        ...jsonDetail('output', output),
      ],
    };
  });
  return `\n${detailedTable(['UNDOING', 'STATE', 'ATTEMPTS', 'STARTED', 'TOOK'], rows)}`;
}

function errorDetail(error: HistoryError | undefined): string[] {
  return error === undefined ? [] : [`error   ${error.name}: ${error.message.replace(/\s+/g, ' ')}`];
}

function jsonDetail(label: string, value: Run['input'] | undefined): string[] {
  return value === undefined ? [] : [`${label.padEnd(7)} ${shortJson(value)}`];
}

/** Below each row of the table what there is to say about it. */
function detailedTable(
  header: readonly string[],
  rows: readonly { readonly cells: readonly string[]; readonly details: readonly string[] }[],
): string {
  const [head = '', ...lines] = table([header, ...rows.map(({ cells }) => cells)]).split('\n');
  const detailed = rows.map(({ details }, index) =>
    [lines[index] ?? '', ...details.map((detail) => `  ${detail}`)].map((line) => `${line}\n`).join(''),
  );
  return `${head}\n${detailed.join('')}`;
}
