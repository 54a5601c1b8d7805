import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Io, pathOf } from './io.js';

const defaultFolder = 'handlers';

/**
 * The handlers of the project: of `path`, else of the folder `handlers` if there is one; undefined if not.
 *
 * @throws RunsheetError `RS_HANDLER_INVALID`, `RS_HANDLER_DUPLICATE`
 */
export async function projectHandlers(path: string | undefined, io: Io): Promise<HandlerRegistry | undefined> {
  if (path === undefined && !existsSync(pathOf(io, defaultFolder))) return undefined;
  const { HandlerRegistry, loadHandlers } = await import('../handlers/index.js');
  return new HandlerRegistry(await loadHandlers(pathOf(io, path ?? defaultFolder), { importModule }));
}

export const noHandlersNote = `note: there is no folder \`${defaultFolder}\` here, so handlers were not checked; --handlers names another\n`;

let importTypeScript: Promise<(file: string) => Promise<unknown>> | undefined;

/** JavaScript as Node imports it, TypeScript through jiti. */
async function importModule(file: string): Promise<unknown> {
  if (!file.endsWith('.ts')) return import(pathToFileURL(file).href);
  importTypeScript ??= typeScriptImporter();
  return (await importTypeScript)(file);
}

/**
 * `runsheet` inside handlers is this very copy, so that projects need not install it only to define
 * handlers, and its errors are recognised whatever copy the project has.
 */
async function typeScriptImporter(): Promise<(file: string) => Promise<unknown>> {
  const [{ createJiti }, runsheet] = await Promise.all([import('jiti'), import('../index.js')]);
  const jiti = createJiti(import.meta.url, { virtualModules: { runsheet } });
  return (file) => jiti.import(file);
}
