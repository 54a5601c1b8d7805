import type { JsonValue } from '../../common/index.js';
import type { Path } from '../../syntax/index.js';
import {
  type Cancel,
  type CrashPoint,
  type Decision,
  type Expect,
  type FlowTestDocument,
  type Resume,
  type Script,
  type Signal,
  scenarioOf,
} from '../flow-tests/index.js';

/** Something of a test with its place in the document: under the test, or under `defaults`. */
export interface Written<T> {
  readonly what: T;
  readonly path: Path;
}

/** One test as it is run: what its file says, each with the place where that stands, for messages. */
export interface TestCase {
  readonly name: string;
  /** Of the test itself. */
  readonly path: Path;
  /** Epoch milliseconds; undefined is the default of virtual time. */
  readonly now: number | undefined;
  readonly input: JsonValue;
  readonly handlers: ReadonlyMap<string, Written<Script>>;
  /** Handlers that are not scripted are the registered ones. */
  readonly othersReal: boolean;
  readonly children: ReadonlyMap<string, Written<Script>>;
  readonly signals: readonly Written<Signal>[];
  readonly crash: 'every' | readonly Written<CrashPoint>[];
  readonly cancel: Written<Cancel> | undefined;
  readonly resume: Written<Resume> | undefined;
  readonly decisions: readonly Written<Decision>[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly expect: Expect;
}

/** The test at this place of the file's list. */
export function testCase(document: FlowTestDocument, index: number): TestCase {
  const scenario = scenarioOf(document, index);
  const { handlers, children = {}, signals = [], crash = [], compensation = [], now } = scenario;
  const own: Path = ['tests', index];
  const placeOf = (...path: readonly [string, ...string[]]): Path => {
    let value: unknown = document.tests[index];
    for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    return [...(value === undefined ? ['defaults'] : own), ...path];
  };
  const single = <T>(key: string, what: T | undefined): Written<T> | undefined =>
    what === undefined ? undefined : { what, path: placeOf(key) };
  const entries = <T>(key: string, list: readonly T[]): Written<T>[] =>
    list.map((what, at) => ({ what, path: [...placeOf(key), at] }));
  const scripts = (key: string, of: Readonly<Record<string, Script>>): Map<string, Written<Script>> =>
    new Map(Object.entries(of).map(([name, what]) => [name, { what, path: placeOf(key, name) }]));
  return {
    name: scenario.name,
    path: own,
    now: now === undefined ? undefined : Date.parse(now),
    input: scenario.input ?? {},
    handlers: scripts('handlers', handlers),
    othersReal: scenario.otherHandlersAreReal,
    children: scripts('children', children),
    signals: entries('signals', signals),
    crash: crash === 'every' ? 'every' : entries('crash', crash),
    cancel: single('cancel', scenario.cancel),
    resume: single('resume', scenario.resume),
    decisions: entries('compensation', compensation),
    secrets: scenario.secrets ?? {},
    expect: scenario.expect ?? {},
  };
}
