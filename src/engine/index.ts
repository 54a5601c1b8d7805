export { type EngineOptions } from './options.js';
export {
  type CancelOptions,
  type CloseOptions,
  Engine,
  type EngineListener,
  type EnqueueOptions,
  type FaultListener,
  createEngine,
} from './engine.js';
export { type Cadence, nextTimes } from './cadence.js';
export { type RunEvent, type RunEventType, eventsOf } from './events.js';
export { type RunAddress } from './opened-storage.js';
export { type EntryKind } from './entries.js';
export { FlowPlaces, outerTurn } from './flow-places.js';
export { type Recovery } from './recovery.js';
export { type RetentionOptions } from './retention.js';
export { type Run, toRun } from './run.js';
export { type Schedule } from './schedules.js';
export type {
  CallHistory,
  ChildHistory,
  GateHistory,
  HistoryError,
  ReversalHistory,
  RunHistory,
  RunOrder,
  SkippedHistory,
  SleepHistory,
  StepHistory,
} from './history.js';
export { HistoryReader, readHistory } from './history-reader.js';
export { type BlockHistory, type TurnCounts, turnAround } from './block-history.js';
export { checkPayload, gatesOf } from './signals.js';
