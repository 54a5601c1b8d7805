import assert from 'node:assert/strict';
import type { RunRecord, Storage } from '../../storage/index.js';
import { aLeasedRun, claim, mustGet } from './case.js';

/** Lets the lease that `run` has expire, and looks for it then. */
export async function interrupt(storage: Storage, run: RunRecord, alone = false): Promise<RunRecord> {
  const { leaseExpiresAt } = await mustGet(storage, run);
  await claim(storage, { only: run.id, at: leaseExpiresAt ?? assert.fail('it is leased'), alone });
  return mustGet(storage, run);
}

/** Claims a run that was put off, when it is due again. */
export async function takeUp(storage: Storage, { id }: RunRecord, alone = false): Promise<RunRecord> {
  const { dueAt } = await mustGet(storage, { id });
  const [taken] = await claim(storage, { only: id, at: dueAt ?? assert.fail('it is due'), alone });
  return taken ?? assert.fail(`run ${id} is claimed when it is due`);
}

/** Interrupted three times in a row, and due. */
export async function aSuspect(storage: Storage): Promise<RunRecord> {
  let run = await interrupt(storage, await aLeasedRun(storage));
  await interrupt(storage, run);
  run = await takeUp(storage, run);
  return interrupt(storage, run);
}
