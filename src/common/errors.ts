/**
 * Every error that the library itself throws, by its stable code. The text says what the code
 * means; the message of an error names the thing, the place and the remedy.
 * (What a run failed with is data, not one of these: see `RunError` in the interpreter.)
 */
export const errorCodes = {
  RS_OPTIONS_INVALID: 'An option passed to the library is unknown or impossible.',
  RS_DEFINITION_INVALID: 'A flow file has mistakes; `diagnostics` lists them all.',
  RS_DEFINITION_CONFLICT: 'The same name and revision is registered with another content.',
  RS_DEFINITION_UNKNOWN: 'No definition of that name (and revision) is registered.',
  RS_HANDLER_INVALID: 'A handler module throws, exports no handler, or a handler is malformed.',
  RS_HANDLER_DUPLICATE: 'Two handlers have the same name.',
  RS_HANDLER_UNKNOWN: 'A flow names a handler that is not registered.',
  RS_INPUT_INVALID: 'The input of a run does not fit the schema of its workflow.',
  RS_IDEMPOTENCY_CONFLICT: 'A run with this key exists with another input or definition.',
  RS_RUN_UNKNOWN: 'No run has this id or key.',
  RS_RUN_ENDED: 'The run has ended.',
  RS_RUN_ENDING: 'How the run ends is settled; it cannot be cancelled any more.',
  RS_RUN_NOT_STUCK: 'The unwind of the run is not stuck, so there is nothing to resume or abandon.',
  RS_RUN_NOT_RESUMABLE: 'The run cannot be resumed; the message says why.',
  RS_SCHEDULE_UNKNOWN: 'The workflow has no schedule of this id.',
  RS_SIGNAL_UNKNOWN: 'No gate of the workflow waits for a signal of this name.',
  RS_SIGNAL_INVALID: 'The payload of a signal does not fit the schema of its gate.',
  RS_SIGNAL_ALREADY_DELIVERED: 'The signal was delivered before; the first delivery counts.',
  RS_SIGNAL_TOO_LATE: 'The gate is past its deadline, and none is to come.',

  RS_RESULT_TIMEOUT: 'The run did not end within the time that the caller was ready to wait.',
  RS_ENGINE_STOPPED: 'The engine is stopped or closed.',
  RS_LEASE_LOST: 'Another engine has taken the run over; this one may not write to it.',
  RS_PAYLOAD_TOO_LARGE: 'A value is larger than the engine stores.',
  RS_NOT_JSON: 'A value cannot be expressed as JSON.',
  RS_STORAGE_BUSY: 'The database is locked by another program.',
  RS_STORAGE_READ_ONLY: 'The database cannot be written.',
  RS_STORAGE_CORRUPT: 'The file is no database, or is damaged.',
  RS_STORAGE_FULL: 'The disk is full.',
  RS_STORAGE_TOO_NEW: 'The database was written by a newer version of Runsheet.',
  RS_STORAGE_LOST: 'The open database was removed, replaced, migrated or not made durable. Open it anew.',
  RS_STORAGE_FAILED: 'The storage failed for another reason.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Base of all errors thrown by Runsheet; tell them apart by `code`. */
export class RunsheetError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RunsheetError';
    this.code = code;
  }
}
