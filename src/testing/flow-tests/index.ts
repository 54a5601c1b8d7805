export type * from './document.generated.js';
export { type Place, parsePlace } from './places.js';
export { type ReadFlowTest, readFlowTest } from './read-flow-test.js';
export { type Scenario, scenarioOf } from './scenario.js';
export { testWords } from './shapes.js';
