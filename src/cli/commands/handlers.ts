import type { HandlerDescription } from '../../handlers/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { projectHandlers } from '../project-handlers.js';
import { handlersSetting } from '../settings.js';
import { typeOf } from '../schema-text.js';

export interface HandlersOptions {
  readonly json: boolean;
  readonly handlers?: string;
}

/** Lists the handlers of the project with what they take, give and throw. */
export async function handlers(options: HandlersOptions, io: Io): Promise<ExitCode> {
  const { path } = handlersSetting(options.handlers, io);
  // Named even if not given, so that a missing folder is an error here.
  const registry = await projectHandlers(path, io);
  const described = [...(registry?.catalogue().values() ?? [])];
  if (options.json) {
    io.out(`${JSON.stringify({ version: 1, handlers: described }, undefined, 2)}\n`);
    return exitCodes.fine;
  }
  io.out(described.map(describe).join('\n'));
  if (described.length === 0) io.err(`there are no handlers in ${path}\n`);
  return exitCodes.fine;
}

function describe({ name, description, input, output, errors }: HandlerDescription): string {
  const rows: [string, string][] = [
    ['takes', input === undefined ? 'anything' : typeOf(input)],
    ['gives', output === undefined ? 'anything' : typeOf(output)],
    ...(errors === undefined ? [] : ([['throws', errors.join(', ')]] satisfies [string, string][])),
  ];
  const lines = rows.map(([label, text]) => `  ${label.padEnd(7)} ${text}\n`);
  return `${name}${description === undefined ? '' : ` - ${description}`}\n${lines.join('')}`;
}
