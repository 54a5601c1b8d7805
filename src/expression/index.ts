export { type FormulaProblem, type FormulaProblemKind, analyseFormula, stepReferences } from './analyse.js';
export { compileFormula } from './compile.js';
export { evaluate, evaluateCondition, evaluateList } from './evaluate.js';
export type { Bindings, Formula, Surroundings } from './formula.js';
export { FormulaError, FormulaSyntaxError } from './formula-error.js';
export type { FormulaFailure } from './fault.js';
export * from './formula-tree.js';
export { functionNames } from './functions.js';
export {
  type BrokenFormula,
  type FreeName,
  type InspectedFormula,
  type SoundFormula,
  type StepReference,
  inspectFormula,
} from './inspect.js';
export { isText as givesText } from './misreadings.js';
export { otherVariables } from './other-functions.js';
export { seededRandom } from './random.js';
export { type Template, compileTemplate, evaluateTemplate } from './template.js';
export { isEvaluating } from './turn.js';
