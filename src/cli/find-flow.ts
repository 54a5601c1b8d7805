import { existsSync, statSync } from 'node:fs';
import { flowNameOf } from '../check/index.js';
import type { Definition } from '../definition/index.js';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Source, nearest } from '../syntax/index.js';
import { validDefinition } from './check-flow.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { filesOf, readFlow, readIn } from './flow-files.js';
import { type Io, pathOf } from './io.js';
import { type PathSetting, namedBy } from './settings.js';

/**
 * The definitions that a path or a name means: of a path the one in that file, of a name all revisions of it
 * among the flows of a folder.
 *
 * @throws CommandFailure (not found; invalid flow)
 */
export async function findDefinitions(
  pathOrName: string,
  folder: PathSetting,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<Definition[]> {
  const sources = isPath(pathOrName, io) ? [await flowAt(pathOrName, io)] : await namedFlows(pathOrName, folder, io);
  const definitions: Definition[] = [];
  for (const source of sources) definitions.push(await validDefinition(source, handlers, io));
  return definitions;
}

export function isPath(text: string, io: Io): boolean {
  return /[/\\]|\.(yaml|yml|json)$/.test(text) || existsSync(pathOf(io, text));
}

async function flowAt(path: string, io: Io): Promise<Source> {
  if (statSync(pathOf(io, path), { throwIfNoEntry: false })?.isDirectory() !== true) return readFlow(path, io);
  throw new CommandFailure(exitCodes.usage, `${path} is a folder; give the path or the name of one flow`);
}

/**
 * The flows of a folder that have a name, whatever else is wrong with them.
 *
 * @throws CommandFailure (not found) naming the nearest
 */
export async function namedFlows(name: string, setting: PathSetting, io: Io): Promise<Source[]> {
  const { path: folder } = setting;
  if (!existsSync(pathOf(io, folder))) {
    const place = `folder ${folder}${namedBy(setting)}`;
    const message = `there is no ${place} to look for the workflow ${name} in; give its path, or --definitions`;
    throw new CommandFailure(exitCodes.notFound, message);
  }
  const sources: Source[] = [];
  const others: string[] = [];
  for (const file of await filesOf(folder, io)) {
    const source = await readIn(folder, file, io);
    const found = flowNameOf(source);
    if (found === name) sources.push(source);
    else if (found !== undefined) others.push(found);
  }
  if (sources.length > 0) return sources;
  const near = nearest(name, others);
  const remedy = near === undefined ? `there are ${[...new Set(others)].join(', ')}` : `did you mean ${near}?`;
  throw new CommandFailure(exitCodes.notFound, `there is no workflow ${name} in ${folder}; ${remedy}`);
}
