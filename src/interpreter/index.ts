export { AttemptAbort } from './attempt-abort.js';
export { type RunEnd, execute } from './execute.js';
export { cancelledError } from './execute.js';
export { type Plan } from './plan.js';
export { compilePlan } from './compile-plan.js';
export type * from './port.js';
export { type RunError, errorFromThrown, languageError } from './run-error.js';
export { type ChildDefinition, type Children, type Services } from './frame.js';
