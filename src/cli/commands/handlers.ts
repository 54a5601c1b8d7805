import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../common/index.js';
import type { HandlerDescription } from '../../handlers/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Io } from '../io.js';
import { packageFile } from '../package-files.js';
import { projectDefinitions } from '../project-definitions.js';
import { projectHandlers } from '../project-handlers.js';
import { projectSchema } from '../project-schema.js';
import { typeOf } from '../schema-text.js';
import { definitionsSetting, handlersSetting } from '../settings.js';
import { workflowTypes } from '../workflow-types.js';

export interface HandlersOptions {
  readonly json: boolean;
  /** Print the JSON Schema of this project's flows, for the editor. */
  readonly schema: boolean;
  /** Print types of the inputs of this project's flows, for the compiler. */
  readonly types: boolean;
  readonly handlers?: string;
  readonly definitions?: string;
}

/** Lists the handlers of the project with what they take, give and throw; or writes what editor and compiler need. */
export async function handlers(options: HandlersOptions, io: Io): Promise<ExitCode> {
  if ([options.json, options.schema, options.types].filter(Boolean).length > 1) {
    throw new CommandFailure(exitCodes.usage, '--json, --schema and --types print different things; give one of them');
  }
  if (options.types) {
    const { path } = definitionsSetting(options.definitions, io);
    io.out(workflowTypes(await projectDefinitions(path, undefined, undefined, io)));
    return exitCodes.fine;
  }
  const { path } = handlersSetting(options.handlers, io);
  // Named even if not given, so that a missing folder is an error here.
  const catalogue = (await projectHandlers(path, io))?.catalogue() ?? new Map<string, HandlerDescription>();
  const described = [...catalogue.values()];
  if (options.schema) {
    const schema = JSON.parse(readFileSync(packageFile('schemas/workflow.schema.json'), 'utf8')) as JsonObject;
    io.out(`${JSON.stringify(projectSchema(schema, catalogue), undefined, 2)}\n`);
    return exitCodes.fine;
  }
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
