import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineHandler } from 'runsheet';
import { z } from 'zod';

/** One call of the handler below, written down before anything else happens. */
export interface RecordedCall {
  readonly key: string;
  readonly step: string;
  readonly occurrence: string;
  readonly attempt: number;
  /** The input without the file. */
  readonly input: { label: string; value: number; failures: number; takesMs: number };
}

/**
 * Records its call durably, takes some time, and gives twice the value and one. Which attempts fail
 * follows from the input alone, so what a run must do can be known beforehand.
 */
const effect = defineHandler({
  name: 'crash.effect',
  input: z.strictObject({
    file: z.string(),
    label: z.string(),
    value: z.number(),
    failures: z.int().default(0).describe('so many attempts fail before one succeeds'),
    takesMs: z.int().default(0),
  }),
  output: z.object({ label: z.string(), value: z.number() }),
  errors: ['Planned'],
  async run({ input: { file, ...input }, idempotencyKey, step, attempt, signal }) {
    append(file, { key: idempotencyKey, step: step.key, occurrence: step.occurrence, attempt, input });
    if (input.takesMs > 0) await delay(input.takesMs, undefined, { signal });
    if (attempt <= input.failures) throw new Planned(`attempt ${attempt} of ${input.label} fails by plan`);
    return { label: input.label, value: input.value * 2 + 1 };
  },
});

class Planned extends Error {
  override readonly name = 'Planned';
}

/** A line a call; synced, so that a call once seen by anybody is never forgotten. */
function append(file: string, call: RecordedCall): void {
  const descriptor = openSync(file, 'a');
  try {
    writeSync(descriptor, `${JSON.stringify(call)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function recordedCalls(file: string): RecordedCall[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCall);
}

export default effect;
