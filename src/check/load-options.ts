import { z } from 'zod';
import { checkOptions } from '../common/index.js';

const schema = z.object({
  path: z.string().min(1),
  options: z.strictObject({
    handlers: z.instanceof(Map, { error: 'must be a catalogue, as HandlerRegistry.catalogue() gives it' }).optional(),
    workflows: z.custom<unknown>((value) => typeof value === 'object' && value !== null).optional(),
    workflowsMayBeMissing: z.boolean().optional(),
  }),
});

/** @throws RunsheetError `RS_OPTIONS_INVALID` */
export function checkLoadOptions(path: unknown, options: unknown): void {
  checkOptions('loadDefinitions', schema, { path, options });
}
