import { type Diagnostic, type Source, parseDocument } from '../syntax/index.js';

/** Checks a flow test. */
export function checkFlowTest(source: Source): readonly Diagnostic[] {
  return parseDocument(source).diagnostics;
}
