export { type EngineOptions } from './options.js';
export { Engine, type EngineListener, type EnqueueOptions, type Recovery, createEngine } from './engine.js';
export { type RunEvent, type RunEventType, eventsOf } from './events.js';
export { type Run, toRun } from './run.js';
