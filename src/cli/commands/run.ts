import { type JsonValue, RunsheetError, errorText } from '../../common/index.js';
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
import { type Given, adoptCommand, nextCommands, showCommand } from '../next-commands.js';
import { shellWord } from '../shell-word.js';
import { payloadFailure } from '../payload-failure.js';
import { neededHandlers } from '../project-handlers.js';
import { placeholderOf } from '../schema-text.js';
import { definitionsSetting } from '../settings.js';
import { waitsFor } from '../show/waits-text.js';
import { propose, say } from '../terminal-text.js';
import { printedJson, shortHash, timeText } from '../text.js';
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
  readonly isGiven: boolean;
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
  const handlers = await neededHandlers(options.handlers, io);
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
    if (found.endedAt === null) await deliver(engine, found, signals, own, options, io);
    const given: Given = { target, db: options.db, handlers: options.handlers, definitions: options.definitions };
    const hashes = new Set(definitions.map(({ hash }) => hash));
    const { run: settled, ending } =
      found.endedAt === null
        ? await new RunDrive(engine, storage, found.id, { timeoutMs, wait: options.wait, hashes, given }, io).toEnding()
        : { run: found, ending: 'over' as const };
    const left = ending === 'over' ? undefined : await leftTo(storage, settled, given, io);
    await engine.close();
    return left === undefined ? reportEnd(settled, options, io) : reportLetGo(settled, ending, left, options, io);
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
    const payload = json === undefined ? null : await readJsonInput(`--signal ${name}`, json, io);
    signals.push({ name, payload, isGiven: json !== undefined });
  }
  return signals;
}

/** What a new run would refuse is refused before it starts. */
function checkSignals(definitions: readonly Definition[], signals: readonly Signal[]): void {
  const [newest] = [...definitions].sort((a, b) => b.revision - a.revision);
  if (newest === undefined) return;
  for (const signal of signals) {
    try {
      checkPayload(gatesOf(newest, signal.name), signal.payload);
    } catch (error) {
      throw payloadRefusal(error, signal, newest);
    }
  }
}

function payloadRefusal(error: unknown, { name, isGiven }: Signal, definition: Definition): unknown {
  return payloadFailure(error, definition, name, {
    isGiven,
    option: `--signal ${name}=<json>`,
    example: (schema) => `--signal ${shellWord(`${name}=${placeholderOf(schema)}`)}`,
  });
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
  if (found.workflow !== name) {
    throw new CommandFailure(exitCodes.conflict, `${found.id} is a run of ${found.workflow}, not of ${name}`);
  }
  const { db, handlers, definitions: folder } = options;
  throw new CommandFailure(
    exitCodes.conflict,
    `${found.id} was started from another content of ${name} (revision ${found.revision}, hash ${shortHash(found.definitionHash)}) ` +
      `and can only go on with that one; ${options.continue === undefined ? 'use another key for a new run, ' : ''}` +
      'put the flow with that content back, or go on from what is stored with the run:',
    { next: [adoptCommand({ db, handlers, definitions: folder })] },
  );
}

async function existingRun(engine: Engine, storage: Storage, workflow: string, idOrKey: string): Promise<Run> {
  const { id } = await findRun(storage, idOrKey, workflow);
  return engine.getRun(id);
}

/** The same command again, for the same run, need not mind that its signals were delivered the first time. */
async function deliver(
  engine: Engine,
  { id, definitionHash }: Run,
  signals: readonly Signal[],
  definitions: readonly Definition[],
  { key, continue: continued }: RunOptions,
  io: Io,
): Promise<void> {
  const definition = definitions.find(({ hash }) => hash === definitionHash);
  for (const signal of signals) {
    try {
      await engine.signal(id, signal.name, signal.payload);
    } catch (error) {
      const isRepeated = error instanceof RunsheetError && error.code === 'RS_SIGNAL_ALREADY_DELIVERED';
      const isExpected = isRepeated && (key ?? continued) !== undefined;
      if (!isExpected) throw definition === undefined ? error : payloadRefusal(error, signal, definition);
      say(io, error.message);
    }
  }
}

/** What a run that is let go waits for, and what would move it on. */
interface Left {
  readonly waits: readonly string[];
  readonly next: readonly string[];
}

async function leftTo(storage: Storage, { id }: Run, given: Given, io: Io): Promise<Left> {
  const record = await storage.getRun(id);
  if (record === undefined) return { waits: [], next: [] };
  const history = await readHistory(storage, record);
  return { waits: waitsFor(history, io.clock.now()), next: await nextCommands(storage, history, given) };
}

function reportEnd(run: Run, { json, db }: RunOptions, io: Io): ExitCode {
  if (json) io.data(jsonOf(run));
  else if (run.status === 'completed') io.data(`${printedJson(run.output, 2)}\n`);
  if (run.status === 'completed') return exitCodes.fine;
  const reason = run.error === null ? '' : `: ${errorText(run.error)}`;
  say(io, `${run.id} ${run.status}${reason}`);
  propose(io, [showCommand(run.id, { db })]);
  return exitCodes.failed;
}

function reportLetGo(run: Run, ending: Ending, { waits, next }: Left, { json }: RunOptions, io: Io): ExitCode {
  if (json) io.data(jsonOf(run));
  const until = run.dueAt === null || run.dueAt <= io.clock.now() ? '' : ` until ${timeText(run.dueAt)}`;
  // What else it may wait for, the commands say.
  if (run.status === 'compensation-stuck') {
    say(io, `${run.id} is ${run.status} and waits for ${waits.join('; ')}`);
    say(io, 'it can go on:');
  } else say(io, `${run.id} is ${run.status}${until} and can go on:`);
  propose(io, next);
  return ending === 'interrupted' ? exitCodes.interrupted : exitCodes.suspended;
}

function jsonOf(run: Run): string {
  return `${printedJson({ version: 1, run })}\n`;
}
