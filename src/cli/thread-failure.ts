import { type ErrorCode, RunsheetError } from '../common/index.js';

/** An error as it comes from a thread, which cannot hand over the error itself. */
export interface ThreadFailure {
  /** Undefined where it is none of Runsheet's. */
  readonly code: ErrorCode | undefined;
  readonly message: string;
}

export function threadFailure(error: unknown): ThreadFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof RunsheetError ? error.code : undefined, message };
}

/** The error again, on this side. */
export function errorOfThread({ code, message }: ThreadFailure): Error {
  return code === undefined ? new Error(message) : new RunsheetError(code, message);
}
