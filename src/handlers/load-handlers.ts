import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { RunsheetError, checkOptions } from '../common/index.js';
import { rememberOrigin, originOf } from './handler-origin.js';
import { duplicateHandler } from './handler-registry.js';
import { describe, handlerFault, looksLikeHandler } from './handler-shape.js';
import type { Handler } from './handler.js';

export interface LoadHandlersOptions {
  /**
   * Loads the module at an absolute path and gives its namespace. Default: `import()`, which takes
   * JavaScript alone; the command line passes one that takes TypeScript.
   */
  readonly importModule?: (file: string) => Promise<unknown>;
}

const optionsSchema = z.object({
  path: z.string().min(1),
  options: z.strictObject({
    importModule: z.custom<unknown>((value) => typeof value === 'function', 'must be a function').optional(),
  }),
});

/**
 * Loads the handlers of a folder (the `.ts`, `.js` and `.mjs` files directly in it, save those that
 * begin with `_`, `.d.ts` and tests) or of a single file. Each default-exports a handler or a list.
 *
 * @throws RunsheetError RS_HANDLER_INVALID or RS_HANDLER_DUPLICATE, with all mistakes of all files,
 *   a line each.
 */
export async function loadHandlers(path: string, options: LoadHandlersOptions = {}): Promise<Handler[]> {
  checkOptions('loadHandlers', optionsSchema, { path, options });
  const importModule = options.importModule ?? importJavaScript;
  const handlers = new Map<string, Handler>();
  const faults: RunsheetError[] = [];
  for (const file of await handlerFiles(path)) {
    try {
      for (const handler of exportedHandlers(await loadModule(file, importModule), file)) {
        const other = handlers.get(handler.name);
        if (other === handler) continue;
        if (other !== undefined) {
          faults.push(duplicateHandler(handler.name, originOf(other), file));
          continue;
        }
        rememberOrigin(handler, file);
        handlers.set(handler.name, handler);
      }
    } catch (error) {
      if (!(error instanceof RunsheetError)) throw error;
      faults.push(error);
    }
  }
  const [first, ...others] = faults;
  if (first !== undefined && others.length === 0) throw first;
  if (first !== undefined) {
    const message = faults.map((fault) => fault.message).join('\n');
    throw new RunsheetError(first.code, message, { cause: new AggregateError(faults, message) });
  }
  return [...handlers.values()];
}

const isHandlerFile = (name: string): boolean =>
  /\.(ts|js|mjs)$/.test(name) && !name.startsWith('_') && !/\.(d|test)\.[a-z]+$/.test(name);

async function handlerFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && isHandlerFile(entry.name))
      .map((entry) => join(path, entry.name))
      .sort();
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw invalid(
      missing
        ? `there are no handlers at ${path}; create that folder, or name the one that holds them`
        : `the handlers at ${path} cannot be read: ${messageOf(error)}`,
      error,
    );
  }
}

const importJavaScript = (file: string): Promise<unknown> => import(pathToFileURL(file).href);

async function loadModule(file: string, importModule: (file: string) => Promise<unknown>): Promise<unknown> {
  try {
    return await importModule(resolve(file));
  } catch (error) {
    throw importFault(file, error);
  }
}

function importFault(file: string, error: unknown): RunsheetError {
  // Told by its message too: it may come from another copy of this module, or from another realm.
  if (isHandlerInvalid(error)) return invalid(`${file}: ${error.message}`, error);
  if (hasCode(error, 'ERR_UNKNOWN_FILE_EXTENSION') && extname(file) === '.ts') {
    return invalid(
      `${file}: Node cannot import TypeScript; compile it, or pass importModule (with jiti, for example)`,
      error,
    );
  }
  if (hasCode(error, 'ERR_MODULE_NOT_FOUND') || hasCode(error, 'MODULE_NOT_FOUND')) {
    return invalid(
      `${file}: it imports something that is not there (${firstLine(messageOf(error))}); install or correct it`,
      error,
    );
  }
  const syntaxFault = syntaxFaultOf(file, error);
  if (syntaxFault !== undefined) return invalid(syntaxFault, error);
  const thrown = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return invalid(
    `${file}: the module throws while it is loaded (${thrown}); a handler module should only define handlers and do its work in run()`,
    error,
  );
}

const isHandlerInvalid = (error: unknown): error is Error =>
  error instanceof Error && hasCode(error, 'RS_HANDLER_INVALID');

const hasCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;

/**
 * jiti throws a plain Error `ParseError: <what>\n <file>:<line>:<column>`. Node's SyntaxError has no
 * place that a program could read.
 */
function syntaxFaultOf(file: string, error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, what, where, place] = /^ParseError: (.*?)\s*\n\s*(.+?):(\d+:\d+)/.exec(error.message) ?? [];
  if (what !== undefined && where !== undefined && place !== undefined) {
    return `${where === resolve(file) ? file : where}:${place}: syntax error: ${what}`;
  }
  if (error.name !== 'SyntaxError') return undefined;
  return `${file}: syntax error: ${firstLine(error.message)}; "node --check" on this file or one it imports shows the place`;
}

function exportedHandlers(namespace: unknown, file: string): Handler[] {
  const exported = defaultExport(namespace);
  if (exported === undefined) {
    throw invalid(
      `${file}: it has no default export; write export default defineHandler({ … }), or begin the file's name with "_" if it is no handler`,
    );
  }
  if (Array.isArray(exported)) {
    return exported.map((item: unknown, index) => asHandler(item, `${file}: default export, entry ${index}`));
  }
  if (!looksLikeHandler(exported)) {
    throw invalid(
      `${file}: its default export is neither a handler nor a list of handlers but ${describe(exported)}; make one with defineHandler({ name, run })`,
    );
  }
  return [asHandler(exported, file)];
}

/** Also of a CommonJS module that was compiled from one with `export default`. */
function defaultExport(namespace: unknown): unknown {
  if (typeof namespace !== 'object' || namespace === null || !('default' in namespace)) return undefined;
  const exported = namespace.default;
  return typeof exported === 'object' && exported !== null && '__esModule' in exported && 'default' in exported
    ? exported.default
    : exported;
}

function asHandler(value: unknown, place: string): Handler {
  const fault = handlerFault(value);
  if (fault !== undefined) throw invalid(`${place}: ${fault}`);
  return value as Handler;
}

const invalid = (message: string, cause?: unknown): RunsheetError =>
  new RunsheetError('RS_HANDLER_INVALID', message, cause === undefined ? undefined : { cause });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
