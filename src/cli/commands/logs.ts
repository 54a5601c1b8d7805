import { definitionFromCanonical, walkItems } from '../../definition/index.js';
import type { JournalRow, RunRecord, Storage } from '../../storage/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { findRun } from '../find-run.js';
import { type Io, wantsColor } from '../io.js';
import { follow, journalOf } from '../logs/follow.js';
import { LogLines, entryJson } from '../logs/log-lines.js';
import { columnsOf } from '../terminal-text.js';
import { printedJson } from '../text.js';
import { timeOption } from '../time-options.js';

export interface LogsOptions {
  /** Go on with what comes, until the run has ended. */
  readonly follow: boolean;
  /** A duration back from now, or an ISO time. */
  readonly since?: string;
  /** Whose key it is, where several workflows have it. */
  readonly workflow?: string;
  readonly json: boolean;
  readonly db?: string;
}

/** Tells the journal of a run, a line for each entry. */
export async function logs(idOrKey: string, options: LogsOptions, io: Io): Promise<ExitCode> {
  const since = options.since === undefined ? 0 : timeOption('--since', options.since, io.clock.now(), 'back');
  return withExistingStorage(options.db, io, async (storage) => {
    const record = await findRun(storage, idOrKey, options.workflow);
    const write = await writerOf(storage, record, options.json, io);
    const textOf = (rows: readonly JournalRow[]): string =>
      rows
        .filter(({ at }) => at >= since)
        .flatMap(write)
        .map((line) => `${line}\n`)
        .join('');
    const print = options.json ? io.data : io.out;
    if (options.follow) return followed(storage, record, options, io, textOf);
    for await (const rows of journalOf(storage, record.run)) print(textOf(rows));
    return exitCodes.fine;
  });
}

/** On a terminal the run as it goes on stands below the lines. */
async function followed(
  storage: Storage,
  record: RunRecord,
  { json, db }: LogsOptions,
  io: Io,
  textOf: (rows: readonly JournalRow[]) => string,
): Promise<ExitCode> {
  const { LiveDisplay, canDrawLive } = await import('../live/live-display.js');
  const isLive = canDrawLive(io) && io.outIsTerminal && !json && record.endedAt === null;
  const print = json ? io.data : io.out;
  const display = isLive ? new LiveDisplay(storage, record, { db }, io) : undefined;
  try {
    const hasEnded = await follow(storage, record, io, (rows) => {
      if (display === undefined) return print(textOf(rows));
      display.say(textOf(rows));
      display.changed();
    });
    return hasEnded ? exitCodes.fine : exitCodes.interrupted;
  } finally {
    await display?.end();
  }
}

async function writerOf(
  storage: Storage,
  { workflow, definitionHash }: RunRecord,
  json: boolean,
  io: Io,
): Promise<(row: JournalRow) => string[]> {
  const { FlowPlaces } = await import('../../engine/index.js');
  const stored = await storage.readDefinition(definitionHash);
  const document = stored && definitionFromCanonical(stored.document).document;
  const flow = new FlowPlaces(document);
  if (json) return (row) => [printedJson(entryJson(row, flow))];
  const places: string[] = [];
  if (document !== undefined) walkItems(document, ({ key, inLoop }) => places.push(inLoop ? `${key}#00` : key));
  const lines = new LogLines(flow, workflow, places, {
    color: wantsColor(io, io.outIsTerminal),
    columns: columnsOf(io, 'out'),
  });
  return (row) => lines.write(row);
}
