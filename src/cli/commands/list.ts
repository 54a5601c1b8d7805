import { cutTo, fittedTable, table, widthOf } from '../../common/index.js';
import type { RunQuery, RunRecord, RunStatus } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { shellWord } from '../shell-word.js';
import { columnsOf, say } from '../terminal-text.js';
import { durationText, printedJson, shortIds, timeText } from '../text.js';
import { timeOption } from '../time-options.js';

export interface ListOptions {
  readonly status?: readonly RunStatus[];
  readonly workflow?: string;
  /** A duration back from now, or an ISO time. */
  readonly since?: string;
  readonly limit: number;
  readonly cursor?: string;
  /** Those that were put away, instead of the others. */
  readonly archived?: boolean;
  readonly json: boolean;
  readonly db?: string;
}

/** Lists runs, newest first. */
export async function list(options: ListOptions, io: Io): Promise<ExitCode> {
  const query: RunQuery = {
    limit: options.limit,
    ...(options.status !== undefined && { statuses: options.status }),
    ...(options.workflow !== undefined && { workflow: options.workflow }),
    ...(options.since !== undefined && { since: timeOption('--since', options.since, io.clock.now(), 'back') }),
    ...(options.cursor !== undefined && { cursor: options.cursor }),
    ...(options.archived === true && { archived: true }),
  };
  const { runs, cursor } = await withExistingStorage(options.db, io, (storage) => storage.listRuns(query));
  if (options.json) {
    const { toRun } = await import('../../engine/index.js');
    io.data(`${printedJson({ version: 1, runs: runs.map(toRun), ...(cursor !== undefined && { cursor }) })}\n`);
    return exitCodes.fine;
  }
  if (runs.length === 0) io.err('no runs\n');
  else {
    io.out(listText(inFamilies(runs), columnsOf(io, 'out')));
  }
  if (cursor !== undefined) say(io, `there are more: --cursor ${shellWord(cursor)}`);
  return exitCodes.fine;
}

interface Member {
  readonly run: RunRecord;
  /** Among the runs shown. */
  readonly depth: number;
}

/** Each run is followed by those that it owns, oldest first; one whose owner is not shown stays in its place. */
function inFamilies(runs: readonly RunRecord[]): Member[] {
  const shown = new Map(runs.map((run): [string, RunRecord[]] => [run.id, []]));
  const roots: RunRecord[] = [];
  for (const run of runs) ((run.parentId === null ? undefined : shown.get(run.parentId)) ?? roots).push(run);
  const withChildren = (run: RunRecord, depth: number): Member[] => [
    { run, depth },
    ...(shown.get(run.id) ?? []).reverse().flatMap((child) => withChildren(child, depth + 1)),
  ];
  return roots.flatMap((run) => withChildren(run, 0));
}

const header = ['RUN', 'WORKFLOW', 'STATUS', 'CREATED', 'TOOK', 'KEY'];

/** A line a run. Where that is too wide, ids are as long as it takes to tell them apart, and long names are cut. */
function listText(members: readonly Member[], columns: number | undefined): string {
  const whole = [header, ...members.map((member) => row(member, (id) => id, timeText))];
  if (columns === undefined || fits(whole, columns)) return table(whole);
  const short = shortIds(members.map(({ run }) => run.id));
  const rows = [header, ...members.map((member) => row(member, short, minuteText))];
  const room = columns - rigidWidth(rows);
  if (room < leastNames) return fittedTable(rows, columns);
  const keys = Math.min(widest(rows, 5), Math.max(Math.floor(room / 2), room - widest(rows, 1)));
  return table(
    rows.map((cells) => cells.map((cell, at) => cutTo(cell, at === 1 ? room - keys : at === 5 ? keys : columns))),
  );
}

/** Less of workflow and key together tells nothing. */
const leastNames = 16;
const gap = 2;

function widest(rows: readonly (readonly string[])[], column: number): number {
  return Math.max(...rows.map((cells) => widthOf(cells[column] ?? '')));
}

function fits(rows: readonly (readonly string[])[], columns: number): boolean {
  return rigidWidth(rows) + widest(rows, 1) + widest(rows, 5) <= columns;
}

/** What the table takes beside workflow and key, which can be cut. */
function rigidWidth(rows: readonly (readonly string[])[]): number {
  return [0, 2, 3, 4].reduce((sum, column) => sum + widest(rows, column), gap * (header.length - 1));
}

/** `2030-01-01 09:30` */
function minuteText(epochMs: number): string {
  return timeText(epochMs).replace(/:\d\dZ$/, '');
}

function row({ run, depth }: Member, idText: (id: string) => string, time: (epochMs: number) => string): string[] {
  const { id, workflow, revision, status, createdAt, startedAt, endedAt, key, parentId } = run;
  const took = startedAt === null || endedAt === null ? '' : durationText(endedAt - startedAt);
  const owner = parentId === null || depth > 0 ? '' : `of ${idText(parentId)}`;
  return [`${'  '.repeat(depth)}${idText(id)}`, `${workflow}@${revision}`, status, time(createdAt), took, key ?? owner];
}
