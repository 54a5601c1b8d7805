export type * from './contract.js';
export { openStatuses, terminalStatuses } from './contract.js';
export { MemoryStorage } from './memory/memory-storage.js';
export {
  type CheckpointThresholds,
  type DatabaseState,
  type FileSync,
  SqliteStorage,
  type SqliteStorageOptions,
  inspectDatabase,
  writeRefusal,
} from './sqlite/index.js';
export { interruptionDelayMs, suspectAfter } from './run-rules.js';
