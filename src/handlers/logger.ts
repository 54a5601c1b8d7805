/** One level of a logger: `log('text')` or `log({ field: 1 }, 'text')`. */
export interface LogMethod {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** What Runsheet needs of a logger. pino fits as it is, and so does anything with these four methods. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

const ignore = (): void => {};

/** The default: a library does not write to its host's output unasked. */
export const silentLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });
