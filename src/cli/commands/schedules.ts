import { fittedTable } from '../../common/index.js';
import { type Engine, type Schedule, createEngine } from '../../engine/index.js';
import { withExistingStorage } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type PutOptions, putRun } from '../put-run.js';
import { columnsOf, say } from '../terminal-text.js';
import { durationText, printedJson, timeText, zonedTimeText } from '../text.js';

interface StoredOptions {
  readonly json: boolean;
  readonly db?: string;
}

export interface SchedulesOptions extends StoredOptions {
  /** So many next times of each. */
  readonly next: number;
}

/** Lists the schedules of all workflows that were registered with the database, with their next times. */
export function schedules({ next, json, db }: SchedulesOptions, io: Io): Promise<ExitCode> {
  return withEngine(db, io, async (engine) => {
    const found = await engine.listSchedules({ count: next });
    if (json) io.data(`${printedJson({ version: 1, schedules: found })}\n`);
    else if (found.length === 0) io.err('no schedules; a worker registers those of its flows when it starts\n');
    else {
      const rows = [['WORKFLOW', 'ID', 'WHEN', 'ZONE', 'OVERLAP', 'NEXT'], ...found.flatMap(rowsOf)];
      io.out(fittedTable(rows, columnsOf(io, 'out')));
    }
    return exitCodes.fine;
  });
}

/** Has a schedule start nothing until it is resumed. */
export function pauseSchedule(workflow: string, id: string, options: StoredOptions, io: Io): Promise<ExitCode> {
  return change(workflow, id, options, io, 'is paused', (engine) => engine.pauseSchedule(workflow, id));
}

/** Lets a schedule go on from its next time. */
export function resumeSchedule(workflow: string, id: string, options: StoredOptions, io: Io): Promise<ExitCode> {
  return change(workflow, id, options, io, 'goes on', (engine) => engine.resumeSchedule(workflow, id));
}

/** Starts a run now, as the schedule would, whatever its overlap rule, and prints its id. Drives nothing. */
export function triggerSchedule(workflow: string, id: string, options: PutOptions, io: Io): Promise<ExitCode> {
  return putRun(workflow, options, io, (engine) => engine.triggerSchedule(workflow, id));
}

async function change(
  workflow: string,
  id: string,
  { json, db }: StoredOptions,
  io: Io,
  said: string,
  make: (engine: Engine) => Promise<void>,
): Promise<ExitCode> {
  return withEngine(db, io, async (engine) => {
    await make(engine);
    const schedule = (await engine.listSchedules()).find((one) => one.workflow === workflow && one.id === id);
    if (json) io.data(`${printedJson({ version: 1, schedule })}\n`);
    const next = schedule?.paused === false && schedule.nextAt !== null ? `, next at ${timeText(schedule.nextAt)}` : '';
    say(io, `${id} of ${workflow} ${said}${next}`);
    return exitCodes.fine;
  });
}

/** One that drives nothing, and needs neither definitions nor handlers. */
async function withEngine(
  db: string | undefined,
  io: Io,
  use: (engine: Engine) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withExistingStorage(db, io, async (storage) => {
    const engine = createEngine({ storage, clock: io.clock });
    try {
      return await use(engine);
    } finally {
      await engine.stop();
    }
  });
}

/** The further times of a schedule stand below its first one. */
function rowsOf(schedule: Schedule & { readonly nextTimes: readonly number[] }): string[][] {
  const { workflow, id, cadence, timezone, overlap, paused, nextTimes } = schedule;
  const when = 'cron' in cadence ? cadence.cron : `every ${durationText(cadence.everyMs)}`;
  const times = paused ? ['paused'] : nextTimes.map((time) => nextText(time, timezone));
  const [first = 'never', ...rest] = times;
  return [[workflow, id, when, timezone ?? '', overlap, first], ...rest.map((time) => ['', '', '', '', '', time])];
}

function nextText(time: number, timezone: string | null): string {
  const utc = timeText(time);
  return timezone === null || timezone === 'UTC' ? utc : `${utc}  ${zonedTimeText(time, timezone)}`;
}
