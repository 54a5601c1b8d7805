import { fittedTable } from '../../common/index.js';
import type { RunQuery, RunRecord, RunStatus } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { shellWord } from '../next-commands.js';
import { columnsOf, say } from '../terminal-text.js';
import { durationText, printedJson, timeText } from '../text.js';
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
    const rows = [['RUN', 'WORKFLOW', 'STATUS', 'CREATED', 'TOOK', 'KEY'], ...inFamilies(runs).map(row)];
    io.out(fittedTable(rows, columnsOf(io, 'out')));
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

function row({ run, depth }: Member): string[] {
  const { id, workflow, revision, status, createdAt, startedAt, endedAt, key, parentId } = run;
  const took = startedAt === null || endedAt === null ? '' : durationText(endedAt - startedAt);
  const owner = parentId === null || depth > 0 ? '' : `of ${parentId}`;
  return [`${'  '.repeat(depth)}${id}`, `${workflow}@${revision}`, status, timeText(createdAt), took, key ?? owner];
}
