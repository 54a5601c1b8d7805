import { parentPort, workerData } from 'node:worker_threads';
import { type HandlerCatalogue, HandlerRegistry, loadHandlers } from '../handlers/index.js';
import { importModule } from './import-module.js';
import { type ThreadFailure, threadFailure } from './thread-failure.js';

/** What the thread answers: what the handlers are, or what keeps them from being loaded. */
export type CatalogueAnswer = { readonly catalogue: HandlerCatalogue } | ThreadFailure;

parentPort?.postMessage(await answer(workerData as string));

async function answer(path: string): Promise<CatalogueAnswer> {
  try {
    return { catalogue: new HandlerRegistry(await loadHandlers(path, { importModule })).catalogue() };
  } catch (error) {
    return threadFailure(error);
  }
}
