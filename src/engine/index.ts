export { type EngineOptions } from './options.js';
export {
  type CancelOptions,
  Engine,
  type EngineListener,
  type EnqueueOptions,
  type Recovery,
  type RunAddress,
  createEngine,
} from './engine.js';
export { type RunEvent, type RunEventType, eventsOf } from './events.js';
export { type Run, toRun } from './run.js';
export {
  type CallHistory,
  type ChildHistory,
  type GateHistory,
  type HistoryError,
  type ReversalHistory,
  type RunHistory,
  type SkippedHistory,
  type SleepHistory,
  type StepHistory,
  readHistory,
} from './history.js';
export { checkPayload, gatesOf } from './signals.js';
