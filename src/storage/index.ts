export type * from './contract.js';
export { terminalStatuses } from './contract.js';
