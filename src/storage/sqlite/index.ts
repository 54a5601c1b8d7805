export { type CheckpointThresholds } from './checkpoint-thresholds.js';
export { type DatabaseState, inspectDatabase } from './inspect-database.js';
export { writeRefusal } from './open-failure.js';
export { SqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js';
export { type FileSync, systemFileSync } from './wal-sync.js';
