export type * from './document.generated.js';
export { type ItemOf, type Verb, isVerb, verbOf, verbs } from './verbs.js';
export { type Body, type WalkedItem, bodiesOf, branchSegment, itemKey, walkItems } from './walk-items.js';
export { canonicalDocument, formulaText } from './canonical-document.js';
export { type Definition, definitionFromCanonical, sealDefinition } from './definition.js';
export { type ValidatedInput, inputSchemaOf, validateInput } from './input.js';
export { type SchemaProblem, type SchemaValidator, compileSchema } from './json-schema.js';
