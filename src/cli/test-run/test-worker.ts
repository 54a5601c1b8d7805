import { parentPort, workerData } from 'node:worker_threads';
import { type ThreadFailure, threadFailure } from '../thread-failure.js';
import type { FileReport } from './file-report.js';
import { TestRunner, type TestSettings } from './run-test-file.js';

/** What a thread answers to the path of a file. */
export type WorkerAnswer = { readonly report: FileReport } | ThreadFailure;

const runner = new TestRunner(workerData as TestSettings);

parentPort?.on('message', (path: string) => {
  void runner.run(path).then(
    (report) => parentPort?.postMessage({ report } satisfies WorkerAnswer),
    (error: unknown) => parentPort?.postMessage(threadFailure(error) satisfies WorkerAnswer),
  );
});
