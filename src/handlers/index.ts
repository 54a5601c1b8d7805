export { type Handler, type HandlerContext, type HandlerDefinition, defineHandler } from './handler.js';
export {
  type HandlerErrorOptions,
  NoEffectError,
  NonRetryableError,
  isNoEffect,
  isNonRetryable,
  markNoEffect,
} from './handler-errors.js';
export { originOf } from './handler-origin.js';
export { type HandlerCatalogue, type HandlerDescription, HandlerRegistry } from './handler-registry.js';
export { type Parsed, type SchemaProblem, parseInput, parseOutput } from './handler-schema.js';
export { type LoadHandlersOptions, loadHandlers } from './load-handlers.js';
export { guardedLogger } from './guarded-logger.js';
export { type LogMethod, type Logger, silentLogger } from './logger.js';
