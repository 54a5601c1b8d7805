export type * from './document.generated.js';
export { isFlowTestFile } from '../../check/index.js';
export { type FlowTestToCheck, checkFlowTest } from './check-flow-test.js';
export { FlowLibrary, type LibraryFlow } from './flow-library.js';
export { type LoadFlowTestOptions, type LoadedFlowTest, checkFlowTestSource, loadFlowTest } from './load-flow-test.js';
export { type Place, parsePlace } from './places.js';
export { type ReadFlowTest, readFlowTest } from './read-flow-test.js';
export { type Scenario, scenarioOf } from './scenario.js';
export { testWords } from './shapes.js';
