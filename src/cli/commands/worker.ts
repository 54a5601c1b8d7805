import { RunsheetError } from '../../common/index.js';
import { type Engine, createEngine } from '../../engine/index.js';
import { storageOf } from '../database.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Interruption, Io } from '../io.js';
import { keepAlive } from '../keep-alive.js';
import { lineLogger } from '../line-logger.js';
import { projectDefinitions } from '../project-definitions.js';
import { neededHandlers } from '../project-handlers.js';
import { concurrencySetting, definitionsSetting } from '../settings.js';
import { humanReport, jsonReport } from '../worker-report.js';

export interface WorkerOptions {
  /** Runs driven at once. */
  readonly concurrency?: number;
  /** Only these, and the children that they start. */
  readonly workflows?: readonly string[];
  /** Go on with runs whose definition is no longer there from the documents stored with them. */
  readonly adoptStored: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
  readonly db?: string;
  readonly handlers?: string;
  readonly definitions?: string;
}

/** Drives runs until it is told to stop: SIGTERM is the usual end (0), Ctrl-C an interruption (130). */
export async function worker(options: WorkerOptions, io: Io): Promise<ExitCode> {
  const { workflows, adoptStored, db, handlers: handlersPath } = options;
  const concurrency = concurrencySetting(options.concurrency, io);
  const handlers = await neededHandlers(handlersPath, io);
  const definitions = await projectDefinitions(definitionsSetting(options.definitions, io), workflows, handlers, io);
  const given = { db, handlers: handlersPath, definitions: options.definitions };
  const report = options.json ? jsonReport(io) : humanReport(io, given);
  const engine = createEngine({
    storage: await storageOf(db, io),
    definitions,
    concurrency,
    adoptStoredDefinitions: adoptStored,
    clock: io.clock,
    // Faults come this way too: the engine tells its logger, and tries again by itself.
    logger: lineLogger((line) => {
      if (line.level !== 'debug' || options.verbose === true) report.log(line);
    }),
    ...(handlers !== undefined && { handlers }),
  });
  const stop = new StopRequest(io, () => report.stopping());
  let stopListening = (): void => {};
  const endKeepingAlive = keepAlive(io.clock);
  const lost = storageLost(engine);
  const outputLost = new Promise<Error>((resolve) => (stopListening = io.onOutputLost(resolve)));
  try {
    engine.subscribe((event) => report.event(event));
    report.recovered(await engine.recover());
    await engine.start();
    report.started({ workflows: namesOf(definitions), concurrency });
    const signal = await Promise.race([stop.asked, lost, outputLost]);
    if (signal instanceof Error) report.stopping();
    await engine.close();
    report.stopped();
    if (signal instanceof Error) {
      throw new CommandFailure(
        exitCodes.failed,
        `stdout cannot be written (${signal.message}), so the worker has stopped`,
      );
    }
    return signal === 'SIGTERM' ? exitCodes.fine : exitCodes.interrupted;
  } catch (error) {
    // A second failure on the way out must not hide the first.
    await engine.close({ graceMs: 0 }).catch(() => {});
    throw error;
  } finally {
    endKeepingAlive();
    stopListening();
    stop.end();
  }
}

/** Rejects once the engine can do nothing more with its storage; from other faults it recovers by itself. */
function storageLost(engine: Engine): Promise<never> {
  const lost = new Promise<never>((_resolve, reject) => {
    engine.onFault((error) => {
      if (error instanceof RunsheetError && error.code === 'RS_STORAGE_LOST') reject(error);
    });
  });
  // It may come when the worker is stopping already, and nobody waits for it any more.
  lost.catch(() => {});
  return lost;
}

/** The first signal asks to stop, the second one ends the process. */
class StopRequest {
  readonly asked: Promise<Interruption>;
  readonly end: () => void;

  constructor(io: Io, onAsked: () => void) {
    let ask = (_signal: Interruption): void => {};
    this.asked = new Promise((resolve) => (ask = resolve));
    let times = 0;
    this.end = io.onInterrupt((signal) => {
      times += 1;
      if (times > 1) return io.exit(exitCodes.interrupted);
      onAsked();
      ask(signal);
    });
  }
}

function namesOf(definitions: readonly { readonly name: string; readonly revision: number }[]): string[] {
  return definitions.map(({ name, revision }) => `${name}@${revision}`);
}
