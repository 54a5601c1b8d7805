import { z } from 'zod';
import { checkOptions } from '../../common/index.js';

const method = z.custom<unknown>((value) => typeof value === 'function', 'must be a function');
/** Infinity: never. */
const frames = z.union([z.int().min(1), z.custom<number>((value) => value === Infinity)]).optional();

const schema = z.object({
  path: z.string().min(1, 'must name a file, or be ":memory:"'),
  options: z.strictObject({
    durability: z.enum(['power', 'process']).optional(),
    busyTimeoutMs: z.int().min(0).optional(),
    clock: z.looseObject({ now: method, monotonic: method, setTimer: method }).optional(),
    random: method.optional(),
    trustSchema: z.boolean().optional(),
    checkpoints: z.strictObject({ passiveFrames: frames, restartFrames: frames }).optional(),
    fileSync: z.looseObject({ start: method, now: method }).optional(),
  }),
});

/** @throws RunsheetError `RS_OPTIONS_INVALID` */
export function checkSqliteOptions(path: unknown, options: unknown): void {
  checkOptions('SqliteStorage', schema, { path, options });
}
