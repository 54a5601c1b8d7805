export { type States, type SectionName, buildGraph } from './build-graph.js';
export type * from './graph.js';
export { toDot } from './dot.js';
export { toMermaid } from './mermaid.js';
export { statesOf } from './run-states.js';
