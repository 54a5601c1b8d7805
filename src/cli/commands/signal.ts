import { definitionFromCanonical } from '../../definition/index.js';
import { gatesOf } from '../../engine/index.js';
import type { RunRecord, Storage } from '../../storage/index.js';
import type { ExitCode } from '../exit-codes.js';
import type { Io } from '../io.js';
import { readJsonInput } from '../json-input.js';
import { signalCommand } from '../next-commands.js';
import { payloadFailure } from '../payload-failure.js';
import { type TellOptions, tellRun } from '../tell-run.js';

export interface SignalOptions extends TellOptions {
  readonly data?: string;
}

/** Delivers a signal to a run. */
export async function signal(idOrKey: string, name: string, options: SignalOptions, io: Io): Promise<ExitCode> {
  const payload = options.data === undefined ? null : await readJsonInput('--data', options.data, io);
  return tellRun(idOrKey, options, io, async (engine, record, storage) => {
    await engine.signal(record.id, name, payload).catch(async (error: unknown) => {
      throw await refusal(error, record, name, options, storage);
    });
    return { said: await deliveredText(record, name, storage) };
  });
}

/** Whether a filter lets a payload pass is decided where the run is executed. */
async function deliveredText({ id, definitionHash }: RunRecord, name: string, storage: Storage): Promise<string> {
  const stored = await storage.readDefinition(definitionHash);
  const gates = stored === undefined ? [] : gatesOf(definitionFromCanonical(stored.document), name).items;
  if (gates.every(({ item }) => item.filter === undefined)) return `${name} was delivered to ${id}`;
  return `${name} was sent to ${id}; the filter of its gate decides whether it is taken: \`runsheet show ${id}\` says so`;
}

async function refusal(
  error: unknown,
  { id, definitionHash }: RunRecord,
  name: string,
  { data, db }: SignalOptions,
  storage: Storage,
): Promise<unknown> {
  const stored = await storage.readDefinition(definitionHash);
  if (stored === undefined) return error;
  return payloadFailure(error, definitionFromCanonical(stored.document), name, {
    isGiven: data !== undefined,
    option: '--data',
    example: (schema) => signalCommand(id, { signal: name, schema }, { db }),
  });
}
