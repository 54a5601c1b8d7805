import { existsSync } from 'node:fs';
import type { HandlerRegistry } from '../handlers/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import { importModule } from './import-module.js';
import { type Io, pathOf } from './io.js';
import { type PathSetting, handlersSetting, namedBy } from './settings.js';
import { assertTrusted } from './trust.js';

/**
 * Where the handlers of the project are; undefined if nobody said so, and the usual folder is not there, and where no
 * code of the project may be executed.
 *
 * @throws CommandFailure (invalid flow) for a place that somebody named and that is not there
 */
export function handlersPath(flag: string | undefined, io: Io): string | undefined {
  if (flag !== undefined) assertTrusted(io, '--handlers names code');
  if (io.untrusted !== undefined) return undefined;
  const setting = handlersSetting(flag, io);
  if (existsSync(pathOf(io, setting.path))) return setting.path;
  if (setting.givenBy === undefined) return undefined;
  throw noHandlers(setting);
}

export function noHandlers(setting: PathSetting): CommandFailure {
  return new CommandFailure(
    exitCodes.invalidFlow,
    `there are no handlers at ${setting.path}${namedBy(setting)}; create that folder, or name the one that holds them`,
  );
}

/**
 * The handlers of the project, where there are some.
 *
 * @throws RunsheetError `RS_HANDLER_INVALID`, `RS_HANDLER_DUPLICATE`
 */
export async function projectHandlers(flag: string | undefined, io: Io): Promise<HandlerRegistry | undefined> {
  const path = handlersPath(flag, io);
  if (path === undefined) return undefined;
  const { HandlerRegistry, loadHandlers } = await import('../handlers/index.js');
  return new HandlerRegistry(await loadHandlers(pathOf(io, path), { importModule }));
}

/**
 * The same for a command that can do nothing without them.
 *
 * @throws CommandFailure (usage) where no code of the project may be executed
 */
export async function neededHandlers(flag: string | undefined, io: Io): Promise<HandlerRegistry | undefined> {
  assertTrusted(io, 'this command loads the handlers of the project');
  return projectHandlers(flag, io);
}

/** Why nothing about handlers was checked. */
export function noHandlersNote(io: Io): string {
  if (io.untrusted !== undefined) {
    return `note: ${io.untrusted} executes no code of the project, so handlers were not checked`;
  }
  const { path } = handlersSetting(undefined, io);
  return `note: there is no folder \`${path}\` here, so handlers were not checked; --handlers names another`;
}
