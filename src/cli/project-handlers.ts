import { existsSync } from 'node:fs';
import type { HandlerRegistry } from '../handlers/index.js';
import { importModule } from './import-module.js';
import { type Io, pathOf } from './io.js';
import { handlersSetting } from './settings.js';

/** Where the handlers of the project are; undefined if nobody said so, and the usual folder is not there. */
export function handlersPath(flag: string | undefined, io: Io): string | undefined {
  const { path, isGiven } = handlersSetting(flag, io);
  return isGiven || existsSync(pathOf(io, path)) ? path : undefined;
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

export function noHandlersNote(io: Io): string {
  const { path } = handlersSetting(undefined, io);
  return `note: there is no folder \`${path}\` here, so handlers were not checked; --handlers names another`;
}
