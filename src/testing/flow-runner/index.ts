export { type Coverage, FlowCoverage, type FlowMarks, mergeCoverage } from './coverage.js';
export type { TestFailure } from './failure.js';
export { renderFailures } from './render-result.js';
export { type RunFileOptions, runLoadedTests } from './run-file.js';
export type { TestResult } from './run-test.js';
export type { Trace, TraceStep } from './trace.js';
