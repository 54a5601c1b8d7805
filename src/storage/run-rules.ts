import { RunsheetError } from '../common/index.js';
import {
  type Claim,
  type JournalRow,
  type NewRun,
  type Resumption,
  type RunRecord,
  type RunStatus,
  type Unit,
  type UnitResult,
  terminalStatuses,
} from './contract.js';

/** Rules of the contract that every adapter applies in the same way. */

export const defaultListLimit = 100;

export function isTerminal(status: RunStatus): boolean {
  return (terminalStatuses as readonly RunStatus[]).includes(status);
}

/** An unwinding run stays one when it is claimed, since `compensating` outranks `running`. */
export function statusWhenClaimed(status: RunStatus): RunStatus {
  return status === 'compensating' || status === 'compensation-stuck' ? 'compensating' : 'running';
}

/** From so many interruptions in a row on a run is driven alone, so that one that kills its process harms no other. */
export const suspectAfter = 3;

const longestInterruptionDelayMs = 300_000;

/** How much later a run is due after its lease has ended by death or expiry for the k-th time in a row. */
export function interruptionDelayMs(k: number): number {
  return k < 2 ? 0 : Math.min(2 ** k * 1000, longestInterruptionDelayMs);
}

export function isSuspect({ interruptions }: Pick<RunRecord, 'interruptions'>): boolean {
  return interruptions >= suspectAfter;
}

/** Waits for a time or the inbox: neither new nor handed back nor taken from the dead. */
export function isParked({ status, owner, dueAt, interruptions }: RunRecord, now: number): boolean {
  if (owner !== null) return false;
  // Of an unwinding run the state does not say it.
  if (status === 'compensating') return interruptions === 0 && (dueAt === null || dueAt > now);
  return (parkedStatuses as readonly RunStatus[]).includes(status);
}

/** States that only a parked run is in. */
export const parkedStatuses = [
  'sleeping',
  'waiting',
  'retrying',
  'compensation-stuck',
] as const satisfies readonly RunStatus[];

/** Nothing is left to be done for it: its tree may be put away if all of it is so. */
export function isSettled({ status, rollbackStatus }: Pick<RunRecord, 'status' | 'rollbackStatus'>): boolean {
  return isTerminal(status) && rollbackStatus !== 'owed' && rollbackStatus !== 'stuck';
}

/** What refuses a unit, or undefined. `row` is the run's as it is in the transaction that would write. */
export function refusalOf(
  unit: Unit,
  row: Pick<RunRecord, 'owner' | 'epoch' | 'inboxSeq'> | undefined,
): Exclude<UnitResult, 'committed'> | undefined {
  if (row === undefined || row.owner !== unit.owner || row.epoch !== unit.epoch) return 'lease-lost';
  if (unit.inboxSeq !== undefined && unit.inboxSeq !== row.inboxSeq) return 'inbox-changed';
  return undefined;
}

/** A run under an id that is free; where it may not have another, its own. */
export function withFreeId(run: NewRun, isTaken: (id: string) => boolean): NewRun {
  if (run.nextId === undefined) return run;
  let { id } = run;
  for (let attempt = 1; isTaken(id); attempt += 1) id = run.nextId(attempt);
  return { ...run, id };
}

/** A journal has no gaps. `run` names it for people. */
export function assertFollow(entries: readonly JournalRow[], lastSeq: number, run: string): void {
  if (entries.every(({ seq }, index) => seq === lastSeq + 1 + index)) return;
  const given = entries.map(({ seq }) => seq).join(', ');
  throw new RunsheetError(
    'RS_STORAGE_FAILED',
    `The journal of run ${run} ends with entry ${lastSeq}; entries ${given} do not follow it.`,
  );
}

/** Whether a run can still be made to unwind, though it has ended. */
export function canReopen({ status, rollbackStatus }: Pick<RunRecord, 'status' | 'rollbackStatus'>): boolean {
  return status === 'completed' && rollbackStatus === null;
}

/** Whether a failed run can be taken over by a new one, and its failed or cancelled children with it. */
export function canResume(
  { from, children = [] }: Resumption,
  runOf: (id: string) => Pick<RunRecord, 'status' | 'resumedBy'> | undefined,
  statuses: readonly RunRecord['status'][] = ['failed'],
): boolean {
  const old = runOf(from);
  if (old === undefined || old.resumedBy !== null || !statuses.includes(old.status)) return false;
  return children.every((child) => canResume(child, runOf, ['failed', 'cancelled']));
}

/** A lease that has expired when it begins would hand the same run out again and again. */
export function assertClaim(claim: Claim): void {
  if (claim.leaseExpiresAt > claim.now) return;
  throw new RunsheetError(
    'RS_OPTIONS_INVALID',
    `A claim's leaseExpiresAt (${claim.leaseExpiresAt}) must be later than its now (${claim.now}).`,
  );
}

export function stoppedError(): RunsheetError {
  return new RunsheetError('RS_ENGINE_STOPPED', 'The storage is not open: it was closed, or open() was not called.');
}
