export { FlowLibrary, checkFlowTestSource } from './flow-tests/index.js';
export { type Death, mortal } from './mortal-storage.js';
export { type StorageCase, storageConformance } from './storage-conformance.js';
export { VirtualClock } from './virtual-clock.js';
