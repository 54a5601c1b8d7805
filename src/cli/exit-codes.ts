import type { ErrorCode } from '../common/index.js';

/** What the process ends with. */
export const exitCodes = {
  fine: 0,
  /** Problems were found; the run failed. */
  failed: 1,
  /** Wrong usage; input that is not JSON or does not fit. */
  usage: 2,
  /** A flow, or a handler that it needs, is invalid. */
  invalidFlow: 3,
  notFound: 4,
  /** What is stored says otherwise. */
  conflict: 5,
  /** The run waits or sleeps, and the command was allowed to let it go. */
  suspended: 6,
  storage: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeOf: Readonly<Record<ErrorCode, ExitCode>> = {
  RS_OPTIONS_INVALID: exitCodes.usage,
  RS_DEFINITION_INVALID: exitCodes.invalidFlow,
  RS_DEFINITION_CONFLICT: exitCodes.conflict,
  RS_DEFINITION_UNKNOWN: exitCodes.notFound,
  RS_HANDLER_INVALID: exitCodes.invalidFlow,
  RS_HANDLER_DUPLICATE: exitCodes.invalidFlow,
  RS_HANDLER_UNKNOWN: exitCodes.invalidFlow,
  RS_INPUT_INVALID: exitCodes.usage,
  RS_IDEMPOTENCY_CONFLICT: exitCodes.conflict,
  RS_RUN_UNKNOWN: exitCodes.notFound,
  RS_RUN_ENDED: exitCodes.conflict,
  RS_RUN_ENDING: exitCodes.conflict,
  RS_RUN_NOT_STUCK: exitCodes.conflict,
  RS_RUN_NOT_RESUMABLE: exitCodes.conflict,
  RS_SCHEDULE_UNKNOWN: exitCodes.notFound,
  RS_SIGNAL_UNKNOWN: exitCodes.notFound,
  RS_SIGNAL_INVALID: exitCodes.usage,
  RS_SIGNAL_ALREADY_DELIVERED: exitCodes.conflict,
  RS_SIGNAL_TOO_LATE: exitCodes.conflict,
  RS_RESULT_TIMEOUT: exitCodes.suspended,
  RS_ENGINE_STOPPED: exitCodes.failed,
  RS_LEASE_LOST: exitCodes.conflict,
  RS_PAYLOAD_TOO_LARGE: exitCodes.usage,
  RS_NOT_JSON: exitCodes.usage,
  RS_STORAGE_BUSY: exitCodes.storage,
  RS_STORAGE_READ_ONLY: exitCodes.storage,
  RS_STORAGE_CORRUPT: exitCodes.storage,
  RS_STORAGE_FULL: exitCodes.storage,
  RS_STORAGE_TOO_NEW: exitCodes.storage,
  RS_STORAGE_LOST: exitCodes.storage,
  RS_STORAGE_FAILED: exitCodes.storage,
};
