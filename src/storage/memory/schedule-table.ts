import type { NewSchedule, ScheduleRecord } from '../contract.js';

/** The schedules of all workflows. Records are replaced, never changed. */
export class ScheduleTable {
  readonly #byWorkflow = new Map<string, Map<string, ScheduleRecord>>();
  /** The highest revision that has spoken, also where it has none. */
  readonly #revisions = new Map<string, number>();

  register(workflow: string, revision: number, schedules: readonly NewSchedule[], now: number): boolean {
    if ((this.#revisions.get(workflow) ?? -Infinity) > revision) return false;
    const before = this.#byWorkflow.get(workflow);
    const after = new Map<string, ScheduleRecord>();
    for (const schedule of schedules) {
      const old = before?.get(schedule.id);
      const isSame = old?.cadence === schedule.cadence && old.timezone === schedule.timezone;
      after.set(schedule.id, {
        ...schedule,
        workflow,
        revision,
        nextAt: isSame ? old.nextAt : schedule.nextAt,
        anchorAt: isSame ? old.anchorAt : now,
        paused: old?.paused ?? false,
      });
    }
    this.#byWorkflow.set(workflow, after);
    this.#revisions.set(workflow, revision);
    return true;
  }

  list(workflows: readonly string[] | undefined): ScheduleRecord[] {
    return [...this.#byWorkflow]
      .filter(([workflow]) => workflows === undefined || workflows.includes(workflow))
      .flatMap(([, schedules]) => [...schedules.values()])
      .sort((a, b) => byCodePoint(a.workflow, b.workflow) || byCodePoint(a.id, b.id));
  }

  get(workflow: string, id: string): ScheduleRecord | undefined {
    return this.#byWorkflow.get(workflow)?.get(id);
  }

  /** @returns false where there is no such schedule */
  update(workflow: string, id: string, changes: Partial<ScheduleRecord>): boolean {
    const schedules = this.#byWorkflow.get(workflow);
    const old = schedules?.get(id);
    if (schedules === undefined || old === undefined) return false;
    schedules.set(id, { ...old, ...changes });
    return true;
  }
}

/** As a database orders text. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
