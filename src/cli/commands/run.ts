import { type JsonValue, RunsheetError, parseDuration } from '../../common/index.js';
import type { Definition } from '../../definition/index.js';
import type { Engine, Run } from '../../engine/index.js';
import type { Storage } from '../../storage/index.js';
import { storageOf } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { findDefinitions } from '../find-flow.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { Progress } from '../progress.js';
import { projectHandlers } from '../project-handlers.js';
import { timeText } from '../text.js';

export interface RunOptions {
  readonly input?: string;
  readonly key?: string;
  /** Go on with this run, by id or key, instead of starting one. */
  readonly continue?: string;
  /** `false`: let the run go as soon as it waits for something. */
  readonly wait: boolean;
  readonly timeout?: string;
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions: string;
}

/** Why the command stops driving the run. */
type Ending = 'over' | 'suspended' | 'time-limit' | 'interrupted';

/** Starts a run, or goes on with one, and drives it here until it ends or may be let go. */
export async function run(target: string, options: RunOptions, io: Io): Promise<ExitCode> {
  const input = options.input === undefined ? {} : await readJsonInput('--input', options.input, io);
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout);
  if (options.continue !== undefined && (options.input ?? options.key) !== undefined) {
    throw new CommandFailure(exitCodes.usage, '--continue takes a run as it is: leave --input and --key out');
  }
  const handlers = await projectHandlers(options.handlers, io);
  const definitions = await findDefinitions(target, options.definitions, handlers, io);

  const storage = await storageOf(options.db, io);
  const { createEngine } = await import('../../engine/index.js');
  const engine = createEngine({ storage, definitions, ...(handlers !== undefined && { handlers }) });
  try {
    await engine.recover();
    const found = await startOrFind(engine, storage, definitions, input, options);
    const { run: settled, ending } = isOver(found)
      ? { run: found, ending: 'over' as const }
      : await drive(engine, found, { timeoutMs, wait: options.wait }, io);
    await engine.close();
    return report(settled, ending, { target, options }, io);
  } catch (error) {
    // A second failure on the way out must not hide the first.
    await engine.close({ graceMs: 0 }).catch(() => {});
    throw error;
  }
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
  if (isOver(found) || definitions.some(({ hash }) => hash === found.definitionHash)) return found;
  throw new CommandFailure(
    exitCodes.conflict,
    found.workflow === name
      ? `${found.id} was started from another content of ${name} (revision ${found.revision}, hash ${found.definitionHash}) ` +
          'and can only go on with that one; use another key for a new run'
      : `${found.id} is a run of ${found.workflow}, not of ${name}`,
  );
}

async function existingRun(engine: Engine, storage: Storage, workflow: string, idOrKey: string): Promise<Run> {
  const byKey = await storage.getRunByKey(workflow, idOrKey);
  return engine.getRun(byKey?.id ?? idOrKey);
}

async function drive(
  engine: Engine,
  { id }: Run,
  { timeoutMs, wait }: { timeoutMs: number | undefined; wait: boolean },
  io: Io,
): Promise<{ run: Run; ending: Ending }> {
  const progress = new Progress(io);
  const cleanUp: (() => void)[] = [];
  const faulted = new Promise<never>((_resolve, reject) => {
    cleanUp.push(engine.onFault((error, runId) => (runId === null || runId === id) && reject(error as Error)));
  });
  const suspended = new Promise<Ending>((resolve) => {
    cleanUp.push(
      engine.subscribe((event) => {
        if (event.run !== id) return;
        progress.tell(event);
        if (!wait && event.type === 'workflow:sleeping') resolve('suspended');
      }),
    );
  });
  const interrupted = new Promise<Ending>((resolve) => {
    let times = 0;
    cleanUp.push(
      io.onInterrupt(() => {
        times += 1;
        if (times > 1) return io.exit(exitCodes.interrupted);
        io.err('stopping once the running steps have ended; Ctrl-C again stops at once\n');
        resolve('interrupted');
      }),
    );
  });
  const over = engine.result(id, timeoutMs === undefined ? {} : { timeoutMs }).then(
    (): Ending => 'over',
    (error: unknown): Ending => {
      if (error instanceof RunsheetError && error.code === 'RS_RESULT_TIMEOUT') return 'time-limit';
      throw error;
    },
  );
  // Lost races end with the engine; what they then say is of no interest any more.
  for (const racer of [over, faulted]) racer.catch(() => {});
  try {
    await engine.start({ only: id });
    const asleep = (await engine.tick()) === 0 && (await isLeftAlone(engine, id, wait, io));
    const ending = asleep ? 'suspended' : await Promise.race([over, faulted, suspended, interrupted]);
    if (ending !== 'over') await engine.stop();
    const run = await engine.getRun(id);
    return { run, ending: isOver(run) ? 'over' : ending };
  } finally {
    for (const end of cleanUp) end();
  }
}

/** Of a run that could not be claimed: whether it may be let go; if not, who has it is told. */
async function isLeftAlone(engine: Engine, id: string, wait: boolean, io: Io): Promise<boolean> {
  const run = await engine.getRun(id);
  if (isSuspended(run)) {
    if (wait && run.dueAt !== null) io.err(`${id} is ${run.status} until ${timeText(run.dueAt)}\n`);
    return !wait;
  }
  if (!isOver(run)) io.err(`${id} is driven by another process; waiting for its end\n`);
  return false;
}

function isOver({ status }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

function isSuspended({ status }: Run): boolean {
  return status === 'sleeping' || status === 'waiting' || status === 'retrying' || status === 'compensation-stuck';
}

function report(run: Run, ending: Ending, command: { target: string; options: RunOptions }, io: Io): ExitCode {
  const { options } = command;
  if (options.json) io.out(`${JSON.stringify({ version: 1, run })}\n`);
  if (ending === 'over') {
    if (run.status === 'completed' && !options.json) io.out(`${JSON.stringify(run.output, undefined, 2)}\n`);
    if (run.status === 'completed') return exitCodes.fine;
    const reason = run.error === null ? '' : `: ${run.error.name}: ${run.error.message}`;
    io.err(`${run.id} ${run.status}${reason}\n`);
    return exitCodes.failed;
  }
  const until = run.dueAt === null || !isSuspended(run) ? '' : ` until ${timeText(run.dueAt)}`;
  io.err(`${run.id} is ${run.status}${until} and can go on:\n  ${continuation(run, command)}\n`);
  return ending === 'interrupted' ? exitCodes.interrupted : exitCodes.suspended;
}

function continuation(run: Run, { target, options }: { target: string; options: RunOptions }): string {
  const given = [
    ...(options.db === undefined ? [] : ['--db', options.db]),
    ...(options.handlers === undefined ? [] : ['--handlers', options.handlers]),
    ...(options.definitions === 'definitions' ? [] : ['--definitions', options.definitions]),
  ];
  return ['runsheet run', target, '--continue', run.id, ...given].map(shellWord).join(' ');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./ -]+$/.test(text) && (!text.includes(' ') || text === 'runsheet run')
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
