import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../common/index.js';
import type { HandlerCatalogue, HandlerDescription } from '../../handlers/index.js';
import { nearest } from '../../syntax/index.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import type { Io } from '../io.js';
import { packageFile } from '../package-files.js';
import { projectDefinitions } from '../project-definitions.js';
import { neededHandlers, noHandlers } from '../project-handlers.js';
import { projectSchema } from '../project-schema.js';
import { typeOf } from '../schema-text.js';
import { definitionsSetting, handlersSetting } from '../settings.js';
import { say } from '../terminal-text.js';
import { workflowTypes } from '../workflow-types.js';
import { oneLine, printedJson } from '../text.js';

export interface HandlersOptions {
  readonly json: boolean;
  /** Print the JSON Schema of this project's flows, for the editor. */
  readonly schema: boolean;
  /** Print types of the inputs of this project's flows, for the compiler. */
  readonly types: boolean;
  readonly handlers?: string;
  readonly definitions?: string;
}

/**
 * Lists the handlers of the project with what they take, give and throw; or writes what editor and compiler need.
 *
 * @param names of those to list; none: all
 * @throws CommandFailure (not found) naming one that there is not
 */
export async function handlers(names: readonly string[], options: HandlersOptions, io: Io): Promise<ExitCode> {
  if ([options.json, options.schema, options.types].filter(Boolean).length > 1) {
    throw new CommandFailure(exitCodes.usage, '--json, --schema and --types print different things; give one of them');
  }
  if (options.types) {
    const folder = definitionsSetting(options.definitions, io);
    const known = await knownHandlers(options.handlers, io);
    io.data(workflowTypes(await projectDefinitions(folder, undefined, undefined, io), known));
    return exitCodes.fine;
  }
  const setting = handlersSetting(options.handlers, io);
  const catalogue = (await neededHandlers(options.handlers, io))?.catalogue();
  // Here a missing folder is an error even if nobody named it.
  if (catalogue === undefined) throw noHandlers(setting);
  if (options.schema) {
    const schema = JSON.parse(readFileSync(packageFile('schemas/workflow.schema.json'), 'utf8')) as JsonObject;
    io.data(`${printedJson(projectSchema(schema, catalogue), 2)}\n`);
    return exitCodes.fine;
  }
  const described = names.length === 0 ? [...catalogue.values()] : names.map((name) => named(name, catalogue));
  if (options.json) {
    io.data(`${printedJson({ version: 1, handlers: described }, 2)}\n`);
    return exitCodes.fine;
  }
  io.out(described.map(describe).join('\n'));
  if (described.length === 0) say(io, `there are no handlers in ${setting.path}`);
  return exitCodes.fine;
}

/** For what steps give; types of inputs are worth having also where the handlers cannot be loaded. */
async function knownHandlers(path: string | undefined, io: Io): Promise<HandlerCatalogue | undefined> {
  try {
    return (await neededHandlers(path, io))?.catalogue();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    io.err(`the types of outputs are incomplete: ${error.message}\n`);
    return undefined;
  }
}

function named(name: string, catalogue: HandlerCatalogue): HandlerDescription {
  const handler = catalogue.get(name);
  if (handler !== undefined) return handler;
  const near = nearest(name, catalogue.keys());
  const remedy = near === undefined ? '`runsheet handlers` lists all' : `did you mean ${near}?`;
  throw new CommandFailure(exitCodes.notFound, `there is no handler ${name}; ${remedy}`);
}

function describe({ name, description, input, output, errors }: HandlerDescription): string {
  const rows: [string, string][] = [
    ['takes', input === undefined ? 'anything' : typeOf(input)],
    ['gives', output === undefined ? 'anything' : typeOf(output)],
    ...(errors === undefined ? [] : ([['throws', errors.join(', ')]] satisfies [string, string][])),
  ];
  const lines = rows.map(([label, text]) => `  ${label.padEnd(7)} ${oneLine(text)}\n`);
  return `${oneLine(`${name}${description === undefined ? '' : ` - ${description}`}`)}\n${lines.join('')}`;
}
