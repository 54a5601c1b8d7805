import { RunsheetError } from '../common/index.js';
import {
  type Claim,
  type JournalRow,
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

/** What refuses a unit, or undefined. `row` is the run's as it is in the transaction that would write. */
export function refusalOf(
  unit: Unit,
  row: Pick<RunRecord, 'owner' | 'epoch' | 'inboxSeq'> | undefined,
): Exclude<UnitResult, 'committed'> | undefined {
  if (row === undefined || row.owner !== unit.owner || row.epoch !== unit.epoch) return 'lease-lost';
  if (unit.inboxSeq !== undefined && unit.inboxSeq !== row.inboxSeq) return 'inbox-changed';
  return undefined;
}

/** An error if `entries` do not continue the run's journal after its entry `lastSeq` without gaps. */
export function misfitOf(
  entries: readonly JournalRow[],
  lastSeq: number,
  run: string | number,
): RunsheetError | undefined {
  if (entries.every(({ seq }, index) => seq === lastSeq + 1 + index)) return undefined;
  const given = entries.map(({ seq }) => seq).join(', ');
  return new RunsheetError(
    'RS_STORAGE_FAILED',
    `The journal of run ${run} ends with entry ${lastSeq}; entries ${given} do not follow it.`,
  );
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
