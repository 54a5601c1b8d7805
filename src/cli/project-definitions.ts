import { existsSync } from 'node:fs';
import { checkSource, flowNameOf } from '../check/index.js';
import type { Definition } from '../definition/index.js';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Source, nearest, renderDiagnostics } from '../syntax/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { withChildren } from './find-children.js';
import { filesOf, readIn } from './flow-files.js';
import { type Io, pathOf } from './io.js';
import { type PathSetting, namedBy } from './settings.js';
import { renderOptions } from './terminal-text.js';

/**
 * The flows of a folder, all revisions of them, with the children that they start.
 *
 * @param names only these workflows, and their children; whatever is wrong with others
 * @throws CommandFailure (not found; invalid flow, once the mistakes of all files are shown)
 */
export async function projectDefinitions(
  setting: PathSetting,
  names: readonly string[] | undefined,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<Definition[]> {
  const { path: folder } = setting;
  if (!existsSync(pathOf(io, folder))) {
    const message = `there is no folder ${folder} of flows${namedBy(setting)}; name another by --definitions`;
    throw new CommandFailure(exitCodes.notFound, message);
  }
  const sources: Source[] = [];
  for (const file of await filesOf(folder, io)) sources.push(await readIn(folder, file, io));
  const definitions = allValid(names === undefined ? sources : only(names, sources, folder), handlers, io);
  assertDistinct(definitions);
  return withChildren(definitions, folder, handlers, io);
}

function only(names: readonly string[], sources: readonly Source[], folder: string): Source[] {
  const named = sources.map((source) => ({ source, name: flowNameOf(source) }));
  const known = [...new Set(named.flatMap(({ name }) => name ?? []))];
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const remedy = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
    throw new CommandFailure(exitCodes.notFound, `there is no workflow ${name} in ${folder}; ${remedy}`);
  }
  return named.filter(({ name }) => name !== undefined && names.includes(name)).map(({ source }) => source);
}

function allValid(sources: readonly Source[], handlers: HandlerRegistry | undefined, io: Io): Definition[] {
  const options = handlers === undefined ? {} : { handlers: handlers.catalogue() };
  const definitions: Definition[] = [];
  const invalid: string[] = [];
  for (const source of sources) {
    const { definition, diagnostics } = checkSource(source, options);
    if (definition !== undefined) definitions.push(definition);
    else {
      const errors = diagnostics.filter(({ severity }) => severity === 'error');
      io.err(`${renderDiagnostics(errors, source, renderOptions(io, 'err'))}\n`);
      invalid.push(source.name);
    }
  }
  if (invalid.length === 0) return definitions;
  const verb = invalid.length === 1 ? 'has' : 'have';
  throw new CommandFailure(exitCodes.invalidFlow, `${invalid.join(', ')} ${verb} mistakes, so nothing was done`);
}

function assertDistinct(definitions: readonly Definition[]): void {
  const seen = new Map<string, Definition>();
  for (const definition of definitions) {
    const place = `${definition.name} revision ${definition.revision}`;
    const other = seen.get(place);
    if (other !== undefined && other.hash !== definition.hash) {
      const files = [other, definition].map(({ source }) => source?.name).join(' and ');
      throw new CommandFailure(
        exitCodes.invalidFlow,
        `${files} are both ${place}, with other content; give the newer one a higher revision`,
      );
    }
    seen.set(place, definition);
  }
}
