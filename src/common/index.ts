export { type JsonObject, type JsonValue, isJsonObject } from './json.js';
export { type ErrorCode, RunsheetError, errorCodes } from './errors.js';
export { type Clock, type Timer, systemClock } from './clock.js';
