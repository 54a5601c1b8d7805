import { DefaultReporter } from 'vitest/node';

/** A line of progress at most this often. */
const intervalMs = 5_000;

/**
 * For `npm test`: a line of progress every few seconds and the name of a test as soon as it fails; after the last test
 * all failures together, with their causes.
 */
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #filesDone = 0;
  #passed = 0;
  #failed = 0;
  #printedAt = 0;

  constructor() {
    super({ summary: false });
  }

  onTestRunStart(specifications) {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#printedAt = performance.now();
  }

  onTestCaseResult(test) {
    super.onTestCaseResult(test);
    const { state } = test.result();
    if (state === 'passed') this.#passed += 1;
    if (state !== 'failed') return;
    this.#failed += 1;
    this.log(`failed: ${test.module.relativeModuleId} > ${test.fullName}`);
  }

  printTestModule() {
    this.#filesDone += 1;
    const now = performance.now();
    if (now - this.#printedAt < intervalMs && this.#filesDone < this.#files) return;
    this.#printedAt = now;
    const seconds = Math.round((now - this.start) / 1000);
    this.log(
      `${this.#filesDone} of ${this.#files} files, ${this.#passed} passed, ${this.#failed} failed, ${seconds} s`,
    );
  }
}
