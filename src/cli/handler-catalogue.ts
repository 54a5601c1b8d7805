import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HandlerCatalogue } from '../handlers/index.js';
import type { CatalogueAnswer } from './catalogue-worker.js';
import { type Io, pathOf } from './io.js';
import { handlersPath } from './project-handlers.js';
import { errorOfThread } from './thread-failure.js';

/**
 * What the handlers of the project are just now, whatever was loaded before: they are loaded in a thread of its own,
 * since Node keeps every module that a thread has loaded. Undefined as for `projectHandlers`.
 *
 * @throws RunsheetError `RS_HANDLER_INVALID`, `RS_HANDLER_DUPLICATE`
 */
export async function currentCatalogue(flag: string | undefined, io: Io): Promise<HandlerCatalogue | undefined> {
  const path = handlersPath(flag, io);
  if (path === undefined) return undefined;
  const worker = new Worker(new URL('./catalogue-worker.js', import.meta.url), { workerData: pathOf(io, path) });
  try {
    const [answer] = (await once(worker, 'message')) as [CatalogueAnswer];
    if ('catalogue' in answer) return answer.catalogue;
    throw errorOfThread(answer);
  } finally {
    await worker.terminate();
  }
}
