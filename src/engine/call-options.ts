import { z } from 'zod';
import { checkOptions, isInstant } from '../common/index.js';
import { openStatuses, terminalStatuses } from '../storage/index.js';

/**
 * A name, key or id. An empty one is nearly always a variable that is not set; half of a surrogate pair is stored as
 * another character, so that two keys would be one.
 */
const name = z
  .string()
  .refine((text) => /\S/.test(text), 'must not be empty; is the variable that it comes from set?')
  .refine((text) => !/\p{Surrogate}/u.test(text), 'holds half of a surrogate pair, which cannot be stored');
const instant = z.number().refine(isInstant, 'must be a time in milliseconds since 1970, as of Date.parse()');
const age = z.number().min(0);
const callback = z.custom<unknown>((value) => typeof value === 'function', 'must be a function');
const address = z.custom<unknown>(isAddress, {
  error: 'must be a run, its id, or { workflow, key }, each a text that is not empty',
});

function isAddress(value: unknown): boolean {
  if (typeof value !== 'object') return name.safeParse(value).success;
  if (value !== null && 'id' in value) return name.safeParse(value.id).success;
  return z.strictObject({ workflow: name, key: name }).safeParse(value).success;
}

const grace = z.strictObject({ graceMs: age.optional() });
const statuses = z.array(z.enum(terminalStatuses)).optional();

/** What each call of an engine takes, save JSON, which is checked where it is stored. */
const calls = {
  register: z.object({
    definition: z.custom<unknown>(
      (value) => typeof value === 'object' && value !== null && 'document' in value && 'hash' in value,
      'must be a definition, as loadDefinitions gives them',
    ),
  }),
  enqueue: z.object({
    workflow: name,
    options: z.strictObject({ key: name.optional(), at: instant.optional() }).optional(),
  }),
  result: z.object({ run: address, options: z.strictObject({ timeoutMs: age.optional() }) }),
  getRun: z.object({ run: address }),
  listRuns: z.object({
    options: z.strictObject({
      workflow: name.optional(),
      statuses: z.array(z.enum([...openStatuses, ...terminalStatuses])).optional(),
      since: z.number().optional(),
      limit: z.int().min(1).optional(),
      cursor: z.string().optional(),
      archived: z.boolean().optional(),
    }),
  }),
  signal: z.object({ run: address, name }),
  cancel: z.object({
    run: address,
    options: z.strictObject({ compensate: z.boolean().optional(), reason: z.string().optional() }),
  }),
  resume: z.object({ run: address }),
  resumeCompensation: z.object({ run: address }),
  abandonCompensation: z.object({ run: address }),
  start: z.object({ options: z.strictObject({ only: name.optional() }) }),
  stop: z.object({ options: grace }),
  close: z.object({ options: grace }),
  listSchedules: z.object({ options: z.strictObject({ count: z.int().min(0).optional() }) }),
  pauseSchedule: z.object({ workflow: name, id: name }),
  resumeSchedule: z.object({ workflow: name, id: name }),
  triggerSchedule: z.object({ workflow: name, id: name }),
  cleanup: z.object({ ageMs: age, statuses }),
  archive: z.object({ ageMs: age, statuses }),
  subscribe: z.object({ listener: callback }),
  onFault: z.object({ listener: callback }),
} as const satisfies Record<string, z.ZodType>;

type Call = keyof typeof calls;

/**
 * Checks what a call of the engine was given, but for JSON.
 *
 * @throws RunsheetError `RS_OPTIONS_INVALID`
 */
export function checkCall(call: Call, given: Readonly<Record<string, unknown>>): void {
  checkOptions(call, calls[call], given);
}
