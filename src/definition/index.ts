export type * from './document.generated.js';
export { type ItemOf, type Verb, isVerb, verbOf, verbs } from './verbs.js';
export {
  type Body,
  type WalkedItem,
  bodiesOf,
  branchSegment,
  callsOf,
  handlersOf,
  isLoop,
  itemKey,
  walkItems,
} from './walk-items.js';
export { type SecretReference, referredSecret, secretReferences, secretsGiven } from './secret-references.js';
export { canonicalDocument, formulaText } from './canonical-document.js';
export { type Definition, definitionFromCanonical, sealDefinition } from './definition.js';
export { Revisions } from './revisions.js';
export { type ValidatedInput, inputSchemaOf, validateInput } from './input.js';
export { type SchemaProblem, type SchemaValidator, compileSchema, firstProblem, problemsText } from './json-schema.js';
export { type ReadWorkflow, readWorkflow } from './read-workflow.js';
export { Report, describe, enumerated, listed, quoted, valueRange } from './report.js';
export * as scalarFields from './scalar-fields.js';
export { checkPlainField, exclude, map as checkMap } from './plain-fields.js';
export { problemText } from './schema-fields.js';
export { languageVariables, warnOfFormulas } from './value-fields.js';
export { type FieldKind, type PlainKind, type Shape, innerShapes, itemShapes, workflowShape } from './shapes.js';
export { type DefinitionDiff, type ItemChange, diffDefinitions } from './diff.js';
export { type FieldChange } from './field-changes.js';
