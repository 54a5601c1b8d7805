export { type CheckpointThresholds } from './checkpointer.js';
export { SqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js';
export { type FileSync, systemFileSync } from './wal-sync.js';
