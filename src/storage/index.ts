export type * from './contract.js';
export { terminalStatuses } from './contract.js';
export { MemoryStorage } from './memory-storage.js';
