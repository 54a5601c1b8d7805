import { type JsonValue, placeText } from '../../common/index.js';
import type { JournalRow } from '../../storage/index.js';
import type { Path } from '../../syntax/index.js';
import { exactDifferences, diffLines } from './differences.js';
import { checkExpectations } from './expectations.js';
import type { TestFailure } from './failure.js';
import type { FlowToRun } from './flow-to-run.js';
import { type Simulated, simulate } from './simulation.js';
import type { TestCase } from './test-case.js';
import { type Trace, traceOf } from './trace.js';

export interface TestResult {
  readonly name: string;
  /** Of the test in its document. */
  readonly path: Path;
  readonly ok: boolean;
  readonly failures: readonly TestFailure[];
  /** What the run did; absent where it was not started. */
  readonly trace?: Trace;
  /** Real time. */
  readonly durationMs: number;
  /** How often virtual time moved on. */
  readonly wakeUps: number;
}

/**
 * Runs one test: once, and where it says `crash: every` once more for each way to die.
 *
 * @returns beside the result what its runs have written down
 */
export async function runTest(
  test: TestCase,
  flow: FlowToRun,
): Promise<{ readonly result: TestResult; readonly journals: Simulated['journals'] }> {
  const begun = performance.now();
  const simulated = await simulate(test, flow);
  const failures = simulated.brokenOff
    ? simulated.failures
    : [...(await checkExpectations(test, simulated)), ...simulated.failures];
  const crashed =
    test.crash === 'every' && failures.length === 0 ? await crashEverywhere(test, flow, simulated) : undefined;
  const shown = crashed?.simulated ?? simulated;
  const all = crashed === undefined ? failures : [crashed.failure];
  const result = {
    name: test.name,
    path: test.path,
    ok: all.length === 0,
    failures: all,
    ...(shown.observation && { trace: traceOf(shown.observation) }),
    durationMs: performance.now() - begun,
    wakeUps: simulated.wakeUps,
  };
  return { result, journals: simulated.journals };
}

/**
 * Kills the process at each unit of entries in turn, before and after it is written (a unit is never written in
 * part), and compares how the run ends. Answers the first way to die after which it ends otherwise.
 */
async function crashEverywhere(
  test: TestCase,
  flow: FlowToRun,
  undisturbed: Simulated,
): Promise<{ failure: TestFailure; simulated: Simulated } | undefined> {
  const expected = endOf(undisturbed);
  for (const [index, unit] of undisturbed.units.entries()) {
    for (const lastIsWritten of [false, true]) {
      const simulated = await simulate(test, flow, { afterUnits: index + 1, lastIsWritten });
      const place = `${lastIsWritten ? 'after' : 'before'} ${entryText(unit.last)} was written`;
      const which = `crash ${index + 1} of ${undisturbed.units.length}`;
      const [first] = simulated.failures;
      if (first !== undefined) {
        const message = `where the process dies ${place} (${which}): ${first.message}`;
        return { failure: { ...first, message }, simulated };
      }
      const found = exactDifferences(expected, endOf(simulated));
      if (found.length === 0) continue;
      const message = `the run ends otherwise where the process dies ${place} (${which})`;
      return { failure: { path: crashPath(test), message, diff: diffLines(found) }, simulated };
    }
  }
  return undefined;
}

/** `crash` may stand under the defaults: then the test itself is shown. */
function crashPath({ path }: TestCase): Path {
  return [...path, 'crash'];
}

/** How a run came out, whatever it cost. */
function endOf({ observation }: Simulated): JsonValue {
  if (observation === undefined) return null;
  const { run, undone } = observation;
  const { status, rollbackStatus, output, error } = run;
  return {
    status,
    rollback: rollbackStatus,
    output,
    error: error === null ? null : { name: error.name, message: error.message, step: error.step },
    compensated: undone.map(({ key, occurrence }) => placeText(key, occurrence)),
  };
}

function entryText(row: JournalRow | undefined): string {
  if (row === undefined) return 'nothing';
  return row.step === null ? `\`${row.kind}\`` : `\`${row.kind}\` of ${placeText(row.step, row.occurrence ?? '0')}`;
}
