import { type Clock, type JsonValue, RunsheetError } from '../common/index.js';
import { type Definition, problemsText, validateInput } from '../definition/index.js';
import type { Firing, NewSchedule, ScheduleRecord } from '../storage/index.js';
import { type Cadence, cadenceOf, nextTime, nextTimes } from './cadence.js';
import type { OpenedStorage } from './opened-storage.js';
import type { DefinitionRegistry } from './registry.js';
import { keyedRunId } from './run-ids.js';

/** A schedule as its users see it. */
export interface Schedule {
  readonly workflow: string;
  /** Its `id`, else its place in the list. */
  readonly id: string;
  readonly revision: number;
  readonly cadence: Cadence;
  readonly timezone: string | null;
  readonly input: JsonValue;
  readonly overlap: 'skip' | 'queue' | 'allow';
  readonly paused: boolean;
  /** Epoch milliseconds; null where there is none. */
  readonly nextAt: number | null;
}

/** @throws RunsheetError `RS_INPUT_INVALID` where the input of a schedule does not fit the workflow */
export async function schedulesOf(definition: Definition, now: number): Promise<NewSchedule[]> {
  const entries = definition.document.schedule ?? [];
  return Promise.all(
    entries.map(async (entry, index): Promise<NewSchedule> => {
      const id = entry.id ?? String(index);
      const checked = await validateInput(definition, entry.input ?? {});
      if (!checked.ok) {
        throw new RunsheetError(
          'RS_INPUT_INVALID',
          `schedule ${id} of ${definition.name}: ${problemsText(checked.problems)}`,
        );
      }
      const cadence = cadenceOf(entry);
      const timezone = 'cron' in entry ? entry.timezone : null;
      return {
        id,
        cadence: JSON.stringify(cadence),
        timezone,
        input: JSON.stringify(checked.value),
        overlap: entry.overlap ?? 'skip',
        nextAt: nextTime(cadence, timezone, now, now),
      };
    }),
  );
}

export function toSchedule(record: ScheduleRecord): Schedule {
  const { workflow, id, revision, timezone, overlap, paused, nextAt } = record;
  const cadence = cadenceIn(record);
  return {
    workflow,
    id,
    revision,
    cadence,
    timezone,
    input: JSON.parse(record.input) as JsonValue,
    overlap,
    paused,
    nextAt,
  };
}

function cadenceIn({ cadence }: ScheduleRecord): Cadence {
  return JSON.parse(cadence) as Cadence;
}

/** The next so many times, the stored one first. */
export function upcoming(record: ScheduleRecord, count: number): number[] {
  if (record.nextAt === null || count < 1) return [];
  const rest = nextTimes(cadenceIn(record), record.timezone, record.anchorAt, record.nextAt, count - 1);
  return [record.nextAt, ...rest];
}

/** Of a schedule that goes on after a pause: nothing is made up for. */
export function nextAfter(record: ScheduleRecord, now: number): number | null {
  return nextTime(cadenceIn(record), record.timezone, record.anchorAt, now);
}

/**
 * Starts what is due. Over all engines each nominal time fires once, and those that were missed are one
 * firing: the next time is the first one after now.
 *
 * @returns when the next one is due; infinite where there is none
 */
export async function fireSchedules(
  { storage, identity }: OpenedStorage,
  clock: Clock,
  registry: DefinitionRegistry,
): Promise<number> {
  const workflows = registry.scheduledWorkflows();
  if (workflows.length === 0) return Number.POSITIVE_INFINITY;
  const now = clock.now();
  for (const record of await storage.listSchedules(workflows)) {
    const firing = firingOf(record, registry, identity, now);
    if (firing !== undefined) await storage.fireSchedule(firing);
  }
  let earliest = Number.POSITIVE_INFINITY;
  for (const record of await storage.listSchedules(workflows)) {
    const { nextAt, paused } = record;
    if (!paused && nextAt !== null && definitionFor(record, registry) !== undefined) {
      earliest = Math.min(earliest, nextAt);
    }
  }
  return earliest;
}

/** What a schedule starts here; undefined where it is of a newer revision, whose input an older one cannot take. */
function definitionFor({ workflow, revision }: ScheduleRecord, registry: DefinitionRegistry): Definition | undefined {
  const definition = registry.newestOf(workflow);
  return definition !== undefined && definition.revision >= revision ? definition : undefined;
}

function firingOf(
  record: ScheduleRecord,
  registry: DefinitionRegistry,
  identity: string,
  now: number,
): Firing | undefined {
  const { workflow, id, nextAt, paused, input } = record;
  const definition = definitionFor(record, registry);
  if (definition === undefined || paused || nextAt === null || nextAt > now) return undefined;
  const key = `schedule:${id}:${nextAt}`;
  return {
    workflow,
    id,
    at: nextAt,
    nextAt: nextAfter(record, now),
    run: {
      ...keyedRunId(identity, workflow, key),
      workflow,
      revision: definition.revision,
      definitionHash: definition.hash,
      key,
      input,
      createdAt: now,
      dueAt: now,
      scheduleId: id,
    },
  };
}
