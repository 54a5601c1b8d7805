export { flowNameOf } from './flow-name.js';
export { applyIgnoreComments } from './ignore-comments.js';
export { type CheckOptions, type CheckedSource, checkSource } from './check-source.js';
export { type WorkflowToCheck, checkWorkflow } from './check-workflow.js';
export { InvalidDefinitionsError, isFlowFile, isFlowTestFile, loadDefinitions } from './load-definitions.js';
export { outputOf } from './types/check-types.js';
export { type Type as OutputType } from './types/type.js';
export { type CataloguedWorkflow, type WorkflowCatalogue } from './workflow-catalogue.js';
export { type KnownFlow, checkProject, mayStartChildren } from './check-project.js';
