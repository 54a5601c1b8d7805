export {
  type Clock,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
  RunsheetError,
  errorCodes,
  systemClock,
} from './common/index.js';
export { type Definition } from './definition/index.js';
export {
  type Handler,
  type HandlerContext,
  HandlerRegistry,
  type Logger,
  NoEffectError,
  NonRetryableError,
  defineHandler,
  loadHandlers,
} from './handlers/index.js';
export { type CheckOptions, InvalidDefinitionsError, loadDefinitions } from './check/index.js';
export {
  type CancelOptions,
  type CloseOptions,
  type Engine,
  type EngineOptions,
  type EnqueueOptions,
  type Recovery,
  type RetentionOptions,
  type Run,
  type RunAddress,
  type RunEvent,
  type RunEventType,
  type Schedule,
  createEngine,
} from './engine/index.js';
// Whole, since only what is not named here can be added to by `declare module`.
export * from './engine/workflow-inputs.js';
export * from './storage/index.js';
export { type IgnoreRule, type RunsheetConfig, defineConfig } from './cli/config.js';
