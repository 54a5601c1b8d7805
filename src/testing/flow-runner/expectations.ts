import {
  type JsonValue,
  countText,
  messageText,
  parseDuration,
  placeText,
  shortJson,
  writeDuration,
} from '../../common/index.js';
import { FormulaError, compileFormula, evaluateCondition } from '../../expression/index.js';
import { nearest } from '../../syntax/index.js';
import type { Path } from '../../syntax/index.js';
import type { RunRecord } from '../../storage/index.js';
import type { ExpectedElapsed, ExpectedRun } from '../flow-tests/index.js';
import { childText, childrenMeant, within } from './acts.js';
import { type Difference, diffLines, exactDifferences, subsetDifferences } from './differences.js';
import type { TestFailure } from './failure.js';
import type { CallInput, ItemTurn, Observation } from './observation.js';
import type { Simulated } from './simulation.js';
import type { TestCase } from './test-case.js';
import { isMeant as isMeantTurn, placeIn } from './turn-watch.js';

/** What is not as the test expects, in the order in which its file says it. */
export async function checkExpectations(test: TestCase, simulated: Simulated): Promise<TestFailure[]> {
  const { expect } = test;
  const path: Path = [...test.path, 'expect'];
  if (expect.refused !== undefined) return checkRefusal(expect.refused, simulated, [...path, 'refused']);
  if (simulated.refused !== undefined) {
    const { name, message } = simulated.refused;
    const help = 'mend the input; if it is to be refused, write `expect: { refused: ValidationError }`';
    return [{ path: [...test.path, 'input'], message: `the run was not started: ${name}: ${message}`, help }];
  }
  const { observation } = simulated;
  if (observation === undefined) throw new TypeError('a run that was started and not observed');
  return checkRun(expect, { ...simulated, observation }, path);
}

/** A run with its children: the one under test, or a child of it. */
interface ExpectedOf extends Pick<Simulated, 'calls' | 'children' | 'places'> {
  readonly observation: Observation;
}

async function checkRun(expect: ExpectedRun, seen: ExpectedOf, path: Path): Promise<TestFailure[]> {
  const { observation } = seen;
  const checks = Object.entries(expect).map(([key, value]) =>
    value === undefined ? [] : checkOne(key as keyof ExpectedRun, expect, observation, seen, [...path, key]),
  );
  const found = (await Promise.all(checks)).flat();
  const status = expect.status === undefined ? checkStatus('completed', observation, path) : [];
  return [...status, ...found];
}

async function checkChildren(expected: Readonly<Record<string, ExpectedRun>>, seen: ExpectedOf, path: Path) {
  const { children, observation } = seen;
  const records = children.map(({ record }) => record);
  const own = [...new Set(observation.histories.map(({ run }) => run.id))];
  const textOf = (child: RunRecord): string =>
    childText(child, records, own.find((id) => id === child.parentId) ?? own[0] ?? '');
  const failures: TestFailure[] = [];
  for (const [name, expect] of Object.entries(expected)) {
    const meant = [...new Set(own.flatMap((run) => childrenMeant(name, records, run)))];
    const [only] = meant;
    const at = [...path, name];
    const child = children.find(({ record }) => record === only);
    if (child === undefined) {
      const started = within(records, new Set(own)).map((each) => `${textOf(each)} (${each.workflow})`);
      const help = `children that were started: ${started.length === 0 ? 'none' : started.join(', ')}`;
      failures.push({ path: at, message: `no child \`${name}\` was started`, help });
    } else if (meant.length > 1) {
      const help = `name one of them: ${meant.map((each) => `\`${textOf(each)}\``).join(', ')}`;
      failures.push({ path: at, message: `\`${name}\` means ${meant.length} children`, help });
    } else {
      const found = await checkRun(expect, { ...child, children }, at);
      failures.push(...found.map((each) => ({ ...each, message: `the child ${name}: ${each.message}` })));
    }
  }
  return failures;
}

function checkRefusal(refused: string, simulated: Simulated, path: Path): TestFailure[] {
  if (simulated.refused?.name === refused) return [];
  if (simulated.refused !== undefined) {
    const { name, message } = simulated.refused;
    return [{ path, message: `the start was refused with ${name}: ${message}`, diff: [`- ${refused}`, `+ ${name}`] }];
  }
  const status = statusWords[simulated.observation?.run.status ?? 'running'];
  return [{ path, message: `the start was to be refused with ${refused}, but the run began and ${status}` }];
}

function checkOne(
  key: keyof ExpectedRun,
  expect: ExpectedRun,
  observation: Observation,
  seen: ExpectedOf,
  path: Path,
): TestFailure[] | Promise<TestFailure[]> {
  const { run } = observation;
  switch (key) {
    case 'status':
      return checkStatus(expect.status ?? 'completed', observation, path);
    case 'error':
      return checkError(expect.error ?? {}, observation, path);
    case 'rollback': {
      const actual = run.rollbackStatus;
      if (actual === expect.rollback) return [];
      const message = `the undoing is ${actual ?? 'not needed: the run has not failed'}, not ${expect.rollback}`;
      return [{ path, message, diff: [`- ${expect.rollback}`, `+ ${actual ?? '(nothing)'}`] }];
    }
    case 'ran':
      return checkRan(expect.ran ?? [], observation, seen, path);
    case 'exactly':
      return checkOrder('the items began', expect.exactly ?? [], namedTurns(observation.began, seen), path);
    case 'notRan':
      return checkNotRan(expect.notRan ?? [], observation, path);
    case 'compensated':
      return checkOrder('the items were undone', expect.compensated ?? [], observation.undone, path);
    case 'calls':
      return checkCalls(expect.calls ?? {}, seen, path);
    case 'inputs':
      return Object.entries(expect.inputs ?? {}).flatMap(([place, input]) =>
        checkInput(place, input, observation, [...path, place]),
      );
    case 'elapsed':
      return checkElapsed(expect.elapsed ?? '0s', observation, path);
    case 'output':
      return checkOutput(expect.output ?? null, observation, path);
    case 'outputMatches':
      return checkMatch(String(expect.outputMatches), observation, path);
    case 'children':
      return checkChildren(expect.children ?? {}, { ...seen, observation }, path);
    case 'refused':
      return [];
  }
}

function checkStatus(expected: string, { run }: Observation, path: Path): TestFailure[] {
  if (run.status === expected) return [];
  const { error } = run;
  const why =
    error === null ? '' : `: ${error.name}${error.step === null ? '' : ` in ${error.step}`}: ${messageText(error)}`;
  const message = `the run was to be ${expected}, but it ${statusWords[run.status]}${why}`;
  const help = 'what an operator decides about it stands in `compensation: [{ at: …, decide: resume }]`';
  const isStuck = run.status === 'compensation-stuck';
  return [{ path, message, diff: [`- ${expected}`, `+ ${run.status}`], ...(isStuck && { help }) }];
}

const statusWords: Readonly<Record<Observation['run']['status'], string>> = {
  pending: 'has not begun',
  running: 'is still running',
  sleeping: 'is sleeping',
  waiting: 'is waiting, and nothing will move it on',
  retrying: 'is between two tries',
  compensating: 'is still being undone',
  'compensation-stuck': 'is stuck in its undoing',
  completed: 'has completed',
  failed: 'has failed',
  cancelled: 'was cancelled',
};

function checkError(expected: NonNullable<ExpectedRun['error']>, { run }: Observation, path: Path): TestFailure[] {
  if (run.error === null) {
    return [{ path, message: `the run was to have an error, but it ${statusWords[run.status]} without one` }];
  }
  const found = subsetDifferences(expected as unknown as JsonValue, run.error);
  return differing('the error is another one', found, expected as unknown as JsonValue, path);
}

/** The failure at the first of the places that differ, as deep in the expectation as it was written. */
function differing(message: string, found: readonly Difference[], expected: JsonValue, path: Path): TestFailure[] {
  const [first] = found;
  if (first === undefined) return [];
  return [{ path: [...path, ...writtenPart(expected, first.path)], message, diff: diffLines(found) }];
}

/** As much of a path as exists in a value. */
function writtenPart(value: JsonValue | undefined, path: Path): Path {
  const [head, ...rest] = path;
  if (head === undefined || typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value) ? value[Number(head)] : value[head];
  return inner === undefined ? [] : [head, ...writtenPart(inner, rest)];
}

function checkRan(expected: readonly string[], observation: Observation, seen: ExpectedOf, path: Path) {
  const began = namedTurns(observation.began, seen);
  let next = 0;
  for (const [index, text] of expected.entries()) {
    const found = began.findIndex((turn, at) => at >= next && isMeant(text, turn));
    if (found >= 0) {
      next = found + 1;
      continue;
    }
    const wasBefore = began.some((turn) => isMeant(text, turn));
    const before = expected.slice(0, index).at(-1);
    const message = !wasBefore
      ? `${text} did not run`
      : before === undefined || count(expected, text, index) > 1
        ? `${text} ran ${countText(began.filter((turn) => isMeant(text, turn)).length, 'time')} only`
        : `${text} began before ${before}, not after it`;
    return [{ path: [...path, index], message, ...orderDiff(expected, began) }];
  }
  return [];
}

function count(expected: readonly string[], text: string, upTo: number): number {
  return expected.slice(0, upTo + 1).filter((other) => other === text).length;
}

/** The whole order must be so. */
function checkOrder(what: string, expected: readonly string[], actual: readonly ItemTurn[], path: Path): TestFailure[] {
  const wrong = expected.findIndex((text, index) => {
    const turn = actual[index];
    return turn === undefined || !isMeant(text, turn);
  });
  if (wrong < 0 && actual.length === expected.length) return [];
  const at = wrong < 0 ? path : [...path, wrong];
  const extra = actual[expected.length];
  const message =
    wrong < 0 && extra !== undefined
      ? `${what} in this order, but ${placeText(extra.key, extra.occurrence)} came as well`
      : actual[wrong] === undefined
        ? `${what} in another order, or not all: ${expected[wrong]} is missing`
        : `${what} in another order: ${placeOf(actual[wrong])} comes where ${expected[wrong]} was expected`;
  return [{ path: at, message, ...orderDiff(expected, actual) }];
}

function orderDiff(expected: readonly string[], actual: readonly ItemTurn[]): { diff: string[] } {
  const listed = (names: readonly string[]): string => (names.length === 0 ? '(nothing)' : names.join(', '));
  // Turns are told only where the expectation tells them.
  const withTurns = expected.some((text) => text.includes('#'));
  const names = actual.map(({ key, occurrence }) => (withTurns ? placeText(key, occurrence) : key));
  return { diff: [`- ${listed(expected)}`, `+ ${listed(names)}`] };
}

function checkNotRan(expected: readonly string[], { began }: Observation, path: Path): TestFailure[] {
  return expected.flatMap((text, index) => {
    const turns = began.filter((turn) => isMeant(text, turn));
    if (turns.length === 0) return [];
    const times = turns.length === 1 ? '' : ` (${turns.length} times)`;
    return [{ path: [...path, index], message: `${text} was not to run, but it did${times}` }];
  });
}

function checkCalls(expected: Readonly<Record<string, number>>, { calls }: ExpectedOf, path: Path): TestFailure[] {
  return Object.entries(expected).flatMap(([name, times]) => {
    const actual = calls.get(name) ?? 0;
    if (actual === times) return [];
    const near = actual === 0 ? nearest(name, [...calls.keys()]) : undefined;
    const others = [...calls].map(([other, so]) => `${other}: ${so}`).join(', ');
    return [
      {
        path: [...path, name],
        message: `${name} was to be called ${countText(times, 'time')}, but it was called ${countText(actual, 'time')}`,
        diff: [`- ${name}: ${times}`, `+ ${name}: ${actual}`],
        help: `the calls of the run were ${others === '' ? 'none' : others}${near === undefined ? '' : `; did you mean ${near}?`}`,
      },
    ];
  });
}

function checkInput(place: string, expected: JsonValue, { inputs, began }: Observation, path: Path): TestFailure[] {
  const meant = placeIn(place);
  const calls = firstCalls(inputs.filter((call) => isMeant(place, call) && call.compensate === meant.compensation));
  if (calls.length === 0) {
    const ran = began.some((turn) => isMeant(place, turn));
    const message = meant.compensation
      ? `what undoes ${meant.item} was not called, so it got no input`
      : ran
        ? `${place} was given no input: it has no \`with\`, or was not called`
        : `${place} did not run, so it got no input`;
    return [{ path, message }];
  }
  const actual = Array.isArray(expected) ? calls.map(({ input }) => input) : calls[0]?.input;
  const whose = meant.compensation ? `what undoes ${meant.item}` : place;
  return differing(`${whose} got another input`, subsetDifferences(expected, actual), expected, path);
}

/** Of each turn the first: what is called again has the same input. */
function firstCalls(calls: readonly CallInput[]): CallInput[] {
  const first = new Map<string, CallInput>();
  for (const call of calls) if (!first.has(call.occurrence)) first.set(call.occurrence, call);
  return [...first.values()];
}

/** A text alone is the least time that must have gone by. */
function checkElapsed(expected: string | ExpectedElapsed, { elapsedMs }: Observation, path: Path): TestFailure[] {
  const bounds = typeof expected === 'string' ? { atLeast: expected } : expected;
  const words = { atLeast: 'at least ', atMost: 'at most ', exactly: 'exactly ' } as const;
  const holds = {
    atLeast: (ms: number) => elapsedMs >= ms,
    atMost: (ms: number) => elapsedMs <= ms,
    exactly: (ms: number) => elapsedMs === ms,
  };
  const actual = writeDuration(elapsedMs);
  return (['exactly', 'atLeast', 'atMost'] as const).flatMap((bound) => {
    const wanted = bounds[bound];
    if (wanted === undefined || holds[bound](parseDuration(wanted))) return [];
    const message = `${words[bound]}${wanted} of virtual time were to go by, but it was ${actual}`;
    const at = typeof expected === 'string' ? path : [...path, bound];
    return [{ path: at, message, diff: [`- ${words[bound]}${wanted}`, `+ ${actual}`] }];
  });
}

function checkOutput(expected: JsonValue, { run }: Observation, path: Path): TestFailure[] {
  if (run.status !== 'completed') return [{ path, message: `the run ${statusWords[run.status]}, so it has no output` }];
  return differing('the output is another one', exactDifferences(expected, run.output), expected, path);
}

async function checkMatch(text: string, { run }: Observation, path: Path): Promise<TestFailure[]> {
  if (run.status !== 'completed') return [{ path, message: `the run ${statusWords[run.status]}, so it has no output` }];
  const bindings = {
    variable: (name: string) => (name === 'output' ? run.output : undefined),
    step: () => undefined,
    stepIds: () => [],
  };
  const output = `the output is ${shortJson(run.output, 600)}`;
  try {
    if (await evaluateCondition(compileFormula(text), bindings, { now: 0, random: () => 0 })) return [];
    return [{ path, message: 'this does not hold for the output', help: output }];
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return [{ path, message: `this fails for the output: ${error.message}`, help: output }];
  }
}

/** Only items with an id can be named. */
function namedTurns(turns: readonly ItemTurn[], { places }: ExpectedOf): ItemTurn[] {
  return turns.filter(({ key }) => !key.includes('@') && places.get(key) !== undefined);
}

function isMeant(text: string, turn: ItemTurn): boolean {
  return isMeantTurn(placeIn(text), turn);
}

function placeOf(turn: ItemTurn | undefined): string {
  return turn === undefined ? '' : placeText(turn.key, turn.occurrence);
}
