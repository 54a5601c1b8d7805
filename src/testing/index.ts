export { type Death, mortal } from './mortal-storage.js';
export { type StorageCase, storageConformance } from './storage-conformance.js';
export { VirtualClock } from './virtual-clock.js';
export { type FlowTestOutcome, type RunFlowTestsOptions, runFlowTests } from './run-flow-tests.js';
export { FlowInTest, type HandlerCall, type ScriptedAnswer, type TestFlowOptions, testFlow } from './test-flow.js';
export { type FlowTestFromRunOptions, flowTestFromRun } from './from-run/flow-test-from-run.js';
