import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../common/index.js';
import { errorOfThread } from '../thread-failure.js';
import type { FileReport } from './file-report.js';
import { TestRunner, type TestSettings } from './run-test-file.js';
import type { WorkerAnswer } from './test-worker.js';

/** A thread takes so long to start; before, a second one would only hold the first one up. */
const aloneMs = 500;

const workerFile = new URL('./test-worker.js', import.meta.url);

export interface RunFilesOptions {
  readonly clock: Clock;
  /** In threads of their own alone, where no module has been loaded yet. */
  readonly fresh?: boolean;
  /** Told of the files in their order, each as soon as it and those before it are done. */
  readonly onReport: (report: FileReport) => void;
}

/** Runs files of tests: the first ones here, and once that takes long, others beside them in threads of their own. */
export async function runFiles(
  paths: readonly string[],
  settings: TestSettings,
  { clock, fresh = false, onReport }: RunFilesOptions,
): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  let next = 0;
  let told = 0;
  const work = async (run: (path: string) => Promise<FileReport>): Promise<void> => {
    for (;;) {
      const index = next;
      const path = paths[index];
      if (path === undefined) return;
      next += 1;
      reports[index] = await run(path);
      for (let report = reports[told]; report !== undefined; report = reports[told]) {
        told += 1;
        onReport(report);
      }
    }
  };
  const threads = existsSync(fileURLToPath(workerFile)) ? Math.min(availableParallelism(), paths.length) : 0;
  const inThread = async (): Promise<void> => {
    if (next >= paths.length) return;
    const thread = new Thread(settings);
    await work((path) => thread.run(path)).finally(() => thread.end());
  };
  if (fresh && threads > 0) {
    await Promise.all(Array.from({ length: threads }, inThread));
    return reports;
  }
  const runner = new TestRunner(settings);
  const begun = clock.monotonic();
  let helpers: Promise<void>[] = [];
  await work(async (path) => {
    if (helpers.length === 0 && clock.monotonic() - begun > aloneMs) {
      helpers = Array.from({ length: threads - 1 }, inThread);
      // Whoever waits for them hears of it; until then nobody does.
      for (const helper of helpers) helper.catch(() => {});
    }
    return runner.run(path);
  });
  await Promise.all(helpers);
  return reports;
}

class Thread {
  readonly #worker: Worker;
  /** A handler may end the thread, as it would end the process. */
  readonly #ended: Promise<never>;

  constructor(settings: TestSettings) {
    this.#worker = new Worker(workerFile, { workerData: settings });
    this.#ended = once(this.#worker, 'exit').then(([code]) => {
      throw new Error(`the thread of the tests ended with ${code}; does a handler call process.exit()?`);
    });
    this.#ended.catch(() => {});
  }

  async run(path: string): Promise<FileReport> {
    this.#worker.postMessage(path);
    const [answer] = (await Promise.race([once(this.#worker, 'message'), this.#ended])) as [WorkerAnswer];
    if ('report' in answer) return answer.report;
    throw errorOfThread(answer);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
