import { parentPort, workerData } from 'node:worker_threads';
import { RunsheetError } from '../common/index.js';
import type { ErrorCode } from '../common/index.js';
import { type HandlerCatalogue, HandlerRegistry, loadHandlers } from '../handlers/index.js';
import { importModule } from './import-module.js';

/** What the thread answers: what the handlers are, or what keeps them from being loaded. */
export type CatalogueAnswer =
  { readonly catalogue: HandlerCatalogue } | { readonly code: ErrorCode | undefined; readonly message: string };

parentPort?.postMessage(await answer(workerData as string));

async function answer(path: string): Promise<CatalogueAnswer> {
  try {
    return { catalogue: new HandlerRegistry(await loadHandlers(path, { importModule })).catalogue() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: error instanceof RunsheetError ? error.code : undefined, message };
  }
}
