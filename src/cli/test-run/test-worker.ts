import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, RunsheetError } from '../../common/index.js';
import type { FileReport } from './file-report.js';
import { TestRunner, type TestSettings } from './run-test-file.js';

/** What a thread answers to the path of a file. */
export type WorkerAnswer =
  { readonly report: FileReport } | { readonly code: ErrorCode | undefined; readonly message: string };

const runner = new TestRunner(workerData as TestSettings);

parentPort?.on('message', (path: string) => {
  void runner.run(path).then(
    (report) => parentPort?.postMessage({ report } satisfies WorkerAnswer),
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      const code = error instanceof RunsheetError ? error.code : undefined;
      parentPort?.postMessage({ code, message } satisfies WorkerAnswer);
    },
  );
});
