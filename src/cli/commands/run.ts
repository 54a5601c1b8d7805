import { type JsonValue, RunsheetError } from '../../common/index.js';
import type { Definition } from '../../definition/index.js';
import { type Engine, type Run, checkPayload, createEngine, gatesOf, readHistory } from '../../engine/index.js';
import type { Storage } from '../../storage/index.js';
import { storageOf } from '../database.js';
import { type Ending, RunDrive } from '../drive-run.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { withChildren } from '../find-children.js';
import { findDefinitions } from '../find-flow.js';
import { findRun } from '../find-run.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { type Given, nextCommands, showCommand } from '../next-commands.js';
import { projectHandlers } from '../project-handlers.js';
import { definitionsSetting } from '../settings.js';
import { propose, say } from '../terminal-text.js';
import { shortHash, timeText } from '../text.js';
import { durationOption } from '../time-options.js';

export interface RunOptions {
  readonly input?: string;
  readonly key?: string;
  /** Go on with this run, by id or key, instead of starting one. */
  readonly continue?: string;
  /** `name=json`, or a name alone. */
  readonly signal?: readonly string[];
  /** `false`: let the run go as soon as it waits for something. */
  readonly wait: boolean;
  readonly timeout?: string;
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

interface Signal {
  readonly name: string;
  readonly payload: JsonValue;
}

/** Children run side by side; more of them wait their turn. */
const runsAtOnce = 16;

/** Starts a run, or goes on with one, and drives it here until it ends or may be let go. */
export async function run(target: string, options: RunOptions, io: Io): Promise<ExitCode> {
  const input = options.input === undefined ? {} : await readJsonInput('--input', options.input, io);
  const signals = await readSignals(options.signal ?? [], io);
  const timeoutMs = options.timeout === undefined ? undefined : durationOption('--timeout', options.timeout);
  if (options.continue !== undefined && (options.input ?? options.key) !== undefined) {
    throw new CommandFailure(exitCodes.usage, '--continue takes a run as it is: leave --input and --key out');
  }
  const handlers = await projectHandlers(options.handlers, io);
  const folder = definitionsSetting(options.definitions, io);
  const own = await findDefinitions(target, folder, handlers, io);
  const definitions = await withChildren(own, folder.path, handlers, io);
  if (options.continue === undefined) checkSignals(own, signals);

  const storage = await storageOf(options.db, io);
  const engine = createEngine({
    storage,
    definitions,
    concurrency: runsAtOnce,
    clock: io.clock,
    ...(handlers !== undefined && { handlers }),
  });
  try {
    await engine.recover();
    const found = await startOrFind(engine, storage, own, input, options);
    if (found.endedAt === null) await deliver(engine, found, signals, options, io);
    const given: Given = { target, db: options.db, handlers: options.handlers, definitions: options.definitions };
    const hashes = new Set(definitions.map(({ hash }) => hash));
    const { run: settled, ending } =
      found.endedAt === null
        ? await new RunDrive(engine, storage, found.id, { timeoutMs, wait: options.wait, hashes, given }, io).toEnding()
        : { run: found, ending: 'over' as const };
    const next = ending === 'over' ? [] : await commandsFor(storage, settled, given);
    await engine.close();
    return report(settled, ending, next, options, io);
  } catch (error) {
    // A second failure on the way out must not hide the first.
    await engine.close({ graceMs: 0 }).catch(() => {});
    throw error;
  }
}

async function readSignals(given: readonly string[], io: Io): Promise<Signal[]> {
  const signals: Signal[] = [];
  for (const text of given) {
    const [, name = '', json] = /^([^=]*)(?:=([^]*))?$/.exec(text) ?? [];
    signals.push({ name, payload: json === undefined ? null : await readJsonInput(`--signal ${name}`, json, io) });
  }
  return signals;
}

/** What a new run would refuse is refused before it starts. */
function checkSignals(definitions: readonly Definition[], signals: readonly Signal[]): void {
  const [newest] = [...definitions].sort((a, b) => b.revision - a.revision);
  if (newest === undefined) return;
  for (const { name, payload } of signals) checkPayload(gatesOf(newest, name), payload);
}

async function startOrFind(
  engine: Engine,
  storage: Storage,
  definitions: readonly Definition[],
  input: JsonValue,
  options: RunOptions,
): Promise<Run> {
  const [{ name } = { name: '' }] = definitions;
  const found =
    options.continue === undefined
      ? await engine.enqueue(name, input, options.key === undefined ? {} : { key: options.key })
      : await existingRun(engine, storage, name, options.continue);
  if (found.endedAt !== null || definitions.some(({ hash }) => hash === found.definitionHash)) return found;
  throw new CommandFailure(
    exitCodes.conflict,
    found.workflow === name
      ? `${found.id} was started from another content of ${name} (revision ${found.revision}, hash ${shortHash(found.definitionHash)}) ` +
          'and can only go on with that one; use another key for a new run'
      : `${found.id} is a run of ${found.workflow}, not of ${name}`,
  );
}

async function existingRun(engine: Engine, storage: Storage, workflow: string, idOrKey: string): Promise<Run> {
  const { id } = await findRun(storage, idOrKey, workflow);
  return engine.getRun(id);
}

/** The same command again, for the same run, need not mind that its signals were delivered the first time. */
async function deliver(
  engine: Engine,
  { id }: Run,
  signals: readonly Signal[],
  { key, continue: continued }: RunOptions,
  io: Io,
): Promise<void> {
  for (const { name, payload } of signals) {
    try {
      await engine.signal(id, name, payload);
    } catch (error) {
      const isRepeated = error instanceof RunsheetError && error.code === 'RS_SIGNAL_ALREADY_DELIVERED';
      if (!isRepeated || (key ?? continued) === undefined) throw error;
      io.err(`${error.message}\n`);
    }
  }
}

async function commandsFor(storage: Storage, { id }: Run, given: Given): Promise<string[]> {
  const record = await storage.getRun(id);
  return record === undefined ? [] : nextCommands(storage, await readHistory(storage, record), given);
}

function report(run: Run, ending: Ending, next: readonly string[], { json, db }: RunOptions, io: Io): ExitCode {
  if (json) io.out(`${JSON.stringify({ version: 1, run })}\n`);
  if (ending === 'over') {
    if (run.status === 'completed' && !json) io.out(`${JSON.stringify(run.output, undefined, 2)}\n`);
    if (run.status === 'completed') return exitCodes.fine;
    const reason = run.error === null ? '' : `: ${run.error.name}: ${run.error.message}`;
    say(io, `${run.id} ${run.status}${reason}`);
    propose(io, [showCommand(run.id, { db })]);
    return exitCodes.failed;
  }
  const until = run.dueAt === null || run.dueAt <= io.clock.now() ? '' : ` until ${timeText(run.dueAt)}`;
  say(io, `${run.id} is ${run.status}${until} and can go on:`);
  propose(io, next);
  return ending === 'interrupted' ? exitCodes.interrupted : exitCodes.suspended;
}
