import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Clock, RunsheetError, checkOptions, systemClock } from '../common/index.js';
import type { Definition } from '../definition/index.js';
import { type Handler, HandlerRegistry, type Logger, guardedLogger, silentLogger } from '../handlers/index.js';
import { type Storage, terminalStatuses } from '../storage/index.js';
import type { RetentionOptions } from './retention.js';

/** What `createEngine` takes. Everything but the storage has a default. */
export interface EngineOptions {
  readonly storage: Storage;
  /** Registered at once; more can be added by `register`. */
  readonly definitions?: readonly Definition[];
  readonly handlers?: HandlerRegistry | readonly Handler[];
  /** Runs driven at once by this engine. Default 1. */
  readonly concurrency?: number;
  /** How long a claim lasts without a heartbeat (a heartbeat is sent every third of it). Default 30,000. */
  readonly runLeaseDurationMs?: number;
  /** How long a handler whose scope was aborted is waited for. Default 10,000. */
  readonly abortGraceMs?: number;
  /** How long `stop` waits for running handlers before it aborts them. Default 10,000. */
  readonly stopGraceMs?: number;
  /** Largest stored value, in bytes of JSON. Default 1,048,576. */
  readonly maxPayloadBytes?: number;
  /** The value of a secret (`{ $secret: NAME }`); default: the environment's `RUNSHEET_SECRET_NAME`. */
  readonly secrets?: (name: string) => string | undefined;
  /**
   * Go on with runs whose definition is not registered from the document that is stored with them. Default false:
   * such runs stay untouched, and `recover` names them.
   */
  readonly adoptStoredDefinitions?: boolean;
  /** Put finished runs away, or remove them, by themselves. Default: they stay. */
  readonly retention?: RetentionOptions;
  readonly clock?: Clock;
  /** Default: silent. pino fits. */
  readonly logger?: Logger;
  /** 16 random bytes, for run ids and the engine's own name. Default: the system's. */
  readonly randomBytes?: () => Uint8Array;
  /** Told of each operation of each walk, in order; for tests of determinism. */
  readonly onOperation?: (runId: string, operation: string) => void;
}

export interface EngineSettings extends Required<
  Omit<EngineOptions, 'definitions' | 'handlers' | 'onOperation' | 'retention'>
> {
  readonly definitions: readonly Definition[];
  readonly handlers: HandlerRegistry;
  readonly onOperation: EngineOptions['onOperation'];
  readonly retention: RetentionOptions | undefined;
}

/** What an engine needs of a storage; one that lacks any of it is refused at once and not in mid-run. */
const storageMethods = [
  'open',
  'close',
  'readIdentity',
  'registerEngine',
  'unregisterEngine',
  'releaseDeadEngines',
  'storeDefinition',
  'readDefinition',
  'unfinishedHashes',
  'setWorkflowLimit',
  'enqueueRun',
  'startRun',
  'claimRuns',
  'renewLeases',
  'releaseRuns',
  'commitUnits',
  'readJournal',
  'readEntries',
  'postInbox',
  'readInbox',
  'resumeRun',
  'registerSchedules',
  'listSchedules',
  'fireSchedule',
  'pauseSchedule',
  'cleanup',
  'archive',
  'countArchived',
  'survey',
  'listChildren',
  'getRun',
  'getRunByKey',
  'listRuns',
  'nextDueAt',
  'onForeignChange',
  'onEngineDeath',
] as const satisfies readonly (keyof Storage)[];

const count = z.int().min(1);
const functionOr = z.custom<unknown>((value) => typeof value === 'function', 'must be a function');
const object = z.custom<unknown>((value) => typeof value === 'object' && value !== null, 'must be an object');

const optionsSchema = z.strictObject({
  storage: object,
  definitions: z.array(object).optional(),
  handlers: object.optional(),
  concurrency: count.optional(),
  runLeaseDurationMs: z.int().min(100).optional(),
  abortGraceMs: z.int().min(0).optional(),
  stopGraceMs: z.int().min(0).optional(),
  maxPayloadBytes: count.optional(),
  secrets: functionOr.optional(),
  adoptStoredDefinitions: z.boolean().optional(),
  retention: z
    .strictObject({
      archiveAfterMs: z.number().min(0).optional(),
      cleanupAfterMs: z.number().min(0).optional(),
      statuses: z.array(z.enum(terminalStatuses)).optional(),
      everyMs: z.number().min(1000).optional(),
    })
    .optional(),
  clock: object.optional(),
  logger: object.optional(),
  randomBytes: functionOr.optional(),
  onOperation: functionOr.optional(),
});
const schema = z.object({ options: optionsSchema });

export function newRunId({ randomBytes }: Pick<EngineSettings, 'randomBytes'>): string {
  return `wf_${Buffer.from(randomBytes()).toString('hex')}`;
}

/** @throws RunsheetError `RS_OPTIONS_INVALID` naming each unknown option and impossible value. */
export function readOptions(options: EngineOptions): EngineSettings {
  checkOptions('createEngine', schema, { options });
  const { handlers, storage } = options;
  const lacking = storageMethods.filter((method) => typeof storage[method] !== 'function');
  if (lacking.length > 0) {
    throw new RunsheetError('RS_OPTIONS_INVALID', `createEngine: the storage lacks ${lacking.join(', ')}`);
  }
  return {
    storage,
    definitions: options.definitions ?? [],
    handlers: handlers instanceof HandlerRegistry ? handlers : new HandlerRegistry(handlers ?? []),
    concurrency: options.concurrency ?? 1,
    runLeaseDurationMs: options.runLeaseDurationMs ?? 30_000,
    abortGraceMs: options.abortGraceMs ?? 10_000,
    stopGraceMs: options.stopGraceMs ?? 10_000,
    maxPayloadBytes: options.maxPayloadBytes ?? 1024 * 1024,
    secrets: options.secrets ?? ((name) => process.env[`RUNSHEET_SECRET_${name}`]),
    clock: options.clock ?? systemClock,
    logger: guardedLogger(options.logger ?? silentLogger),
    randomBytes: options.randomBytes ?? pooledRandomBytes(),
    onOperation: options.onOperation,
    adoptStoredDefinitions: options.adoptStoredDefinitions ?? false,
    retention: options.retention,
  };
}

/** The system is asked for many at once: one call costs as much for 16 bytes as for 4,096. */
function pooledRandomBytes(): () => Uint8Array {
  let pool = new Uint8Array(0);
  return () => {
    if (pool.length === 0) pool = randomBytes(4096);
    const bytes = pool.subarray(0, 16);
    pool = pool.subarray(16);
    return bytes;
  };
}
