import type { JsonValue } from '../../common/index.js';
import type { JournalRow, RunRecord, Storage } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Io } from '../io.js';
import { type StepHistory, stepHistories } from '../step-history.js';
import { durationText, placeText, shortJson, table, timeText } from '../text.js';

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
  const { record, steps } = await withExistingStorage(options.db, io, async (storage) => {
    const found = await findRun(storage, idOrKey, options.workflow);
    return { record: found, steps: stepHistories(await wholeJournal(storage, found.run)) };
  });
  if (options.json) {
    const { toRun } = await import('../../engine/index.js');
    io.out(`${JSON.stringify({ version: 1, run: toRun(record), steps })}\n`);
  } else {
    io.out(describe(record, steps, io.clock.now()));
  }
  return exitCodes.fine;
}

async function findRun(storage: Storage, idOrKey: string, workflow: string | undefined): Promise<RunRecord> {
  const byId = await storage.getRun(idOrKey);
  if (byId !== undefined) return byId;
  const found =
    workflow === undefined ? await runsWithKey(storage, idOrKey) : [await storage.getRunByKey(workflow, idOrKey)];
  const [run, another] = found;
  if (another !== undefined) {
    const workflows = found.map((each) => each?.workflow).join(', ');
    throw new CommandFailure(exitCodes.usage, `runs of ${workflows} have the key ${idOrKey}; say which by --workflow`);
  }
  if (run !== undefined) return run;
  throw new CommandFailure(
    exitCodes.notFound,
    `there is no run with the id or key ${idOrKey}; \`runsheet list\` shows those there are`,
  );
}

/** A key is unique within a workflow only, so all of them are looked through. */
async function runsWithKey(storage: Storage, key: string): Promise<RunRecord[]> {
  const found: RunRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await storage.listRuns({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    found.push(...page.runs.filter((run) => run.key === key));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

async function wholeJournal(storage: Storage, run: number): Promise<JournalRow[]> {
  const rows: JournalRow[] = [];
  for (;;) {
    const page = await storage.readJournal(run, rows.at(-1)?.seq ?? 0, 500);
    rows.push(...page);
    if (page.length < 500) return rows;
  }
}

function describe(run: RunRecord, steps: readonly StepHistory[], now: number): string {
  const key = run.key === null ? '' : ` (key ${run.key})`;
  const failed = run.error === null ? undefined : (JSON.parse(run.error) as RunFailure);
  const facts: (readonly [string, string])[] = [
    ...(failed === undefined ? [] : [['error', failureText(failed)] as const]),
    ['status', statusText(run)],
    ['created', timeText(run.createdAt)],
    ...(run.startedAt === null ? [] : [['started', timeText(run.startedAt)] as const]),
    ...(run.endedAt === null ? [] : [['ended', endText(run.startedAt, run.endedAt)] as const]),
    ['input', shortJson(JSON.parse(run.input) as JsonValue)],
    ...(run.output === null ? [] : [['output', shortJson(JSON.parse(run.output) as JsonValue)] as const]),
    ...(run.endedAt === null ? [['waits for', waitText(run, steps, now)] as const] : []),
    ...(run.endedAt === null ? [['next', `runsheet run ${run.workflow} --continue ${run.id}`] as const] : []),
  ];
  return `${run.id} ${run.workflow} revision ${run.revision}${key}\n${table(facts)}${stepsText(steps)}`;
}

type RunFailure = NonNullable<StepHistory['error']> & { readonly step: string | null };

function failureText({ name, message, step, attempt }: RunFailure): string {
  const place = step === null ? '' : attempt === null ? ` (in ${step})` : ` (in ${step}, attempt ${attempt})`;
  return `${name}: ${message.replace(/\s+/g, ' ')}${place}`;
}

function statusText({ status, rollbackStatus }: RunRecord): string {
  const isOfInterest = rollbackStatus !== null && rollbackStatus !== 'not-applicable';
  return isOfInterest ? `${status}, rollback ${rollbackStatus}` : status;
}

function endText(startedAt: number | null, endedAt: number): string {
  return startedAt === null ? timeText(endedAt) : `${timeText(endedAt)}, after ${durationText(endedAt - startedAt)}`;
}

function waitText(run: RunRecord, steps: readonly StepHistory[], now: number): string {
  if (run.owner !== null) {
    const isAlive = (run.leaseExpiresAt ?? 0) > now;
    return isAlive ? 'an engine is driving it' : 'an engine that takes it over: the one that drove it is gone';
  }
  const pending = steps.filter(({ dueAt }) => dueAt !== undefined).map(pendingText);
  if (pending.length > 0) return pending.join('; ');
  const due = run.dueAt !== null && run.dueAt > now ? `${timeText(run.dueAt)}, and ` : '';
  return `${due}an engine that drives it`;
}

function pendingText({ step, occurrence, state, attempts, dueAt = 0 }: StepHistory): string {
  const place = placeText(step, occurrence);
  return state === 'retrying'
    ? `attempt ${attempts + 1} of ${place} at ${timeText(dueAt)}`
    : `${place}, which sleeps until ${timeText(dueAt)}`;
}

function stepsText(steps: readonly StepHistory[]): string {
  if (steps.length === 0) return '';
  const shown = steps.slice(-mostSteps);
  const left = steps.length - shown.length;
  const note = left === 0 ? '' : `the last ${shown.length} of ${steps.length} (--json shows all)\n`;
  const lines = table([['STEP', 'STATE', 'ATTEMPTS', 'STARTED', 'TOOK'], ...shown.map(stepRow)]).split('\n');
  const [header = '', ...rows] = lines;
  const detailed = shown.map((step, index) => `${rows[index] ?? ''}\n${detailText(step)}`);
  return `\n${note}${header}\n${detailed.join('')}`;
}

function stepRow({ step, occurrence, state, attempts, interruptions, startedAt, endedAt }: StepHistory): string[] {
  const tries =
    attempts === 0 ? '' : interruptions === 0 ? String(attempts) : `${attempts} (${interruptions} interrupted)`;
  const took = endedAt === undefined || attempts === 0 ? '' : durationText(endedAt - startedAt);
  return [placeText(step, occurrence), state, tries, timeText(startedAt), took];
}

function detailText({ input, output, error }: StepHistory): string {
  return [
    ...(error === undefined ? [] : [`  error   ${error.name}: ${error.message.replace(/\s+/g, ' ')}\n`]),
    ...(input === undefined ? [] : [`  input   ${shortJson(input)}\n`]),
    ...(output === undefined ? [] : [`  output  ${shortJson(output)}\n`]),
  ].join('');
}
