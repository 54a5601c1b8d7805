import type { Handler } from './handler.js';

/** Which module each loaded handler came from: for messages alone, so it is kept beside the handlers. */
const origins = new WeakMap<Handler, string>();

export const rememberOrigin = (handler: Handler, file: string): void => void origins.set(handler, file);

/** Path of the module that the handler was loaded from, as `loadHandlers` was told it; undefined if it was not. */
export const originOf = (handler: Handler): string | undefined => origins.get(handler);
