export { type JsonObject, type JsonValue, isJsonObject } from './json.js';
export { JsonText, toJsonText } from './json-text.js';
export { type ErrorCode, RunsheetError, errorCodes } from './errors.js';
export { type Clock, type Timer, systemClock } from './clock.js';
export { canonicalJson } from './canonical-json.js';
export { durationMeant } from './duration-meant.js';
export { durationProblem, durationText, isDuration, parseDuration, writeDuration } from './duration.js';
export { table } from './table.js';
export { countText, placeText, shortJson } from './text.js';
