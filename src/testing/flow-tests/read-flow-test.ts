import { type Diagnostic, type Source, type SyntaxNode, parseDocument, toValue } from '../../syntax/index.js';
import type { FlowTestDocument } from './document.generated.js';
import { FlowTestReport } from './flow-test-report.js';
import { checkFlowTestShape } from './shape-walk.js';

export interface ReadFlowTest {
  /** Absent if the text is no YAML that the language allows. */
  readonly root?: SyntaxNode;
  /** Absent if there is an error among the diagnostics. */
  readonly document?: FlowTestDocument;
  /** In order of position. */
  readonly diagnostics: Diagnostic[];
}

/** Reads a file of flow tests as far as its shape goes: YAML (RS1…) and the shape of tests (RS6…). */
export function readFlowTest(source: Source): ReadFlowTest {
  const { root, diagnostics } = parseDocument(source);
  if (root === undefined) return { diagnostics };
  const report = new FlowTestReport();
  report.diagnostics.push(...diagnostics);
  checkFlowTestShape(root, report);
  // What the shape walk lets through is a document; a test compares it with the JSON Schema.
  const document = toValue(root) as unknown as FlowTestDocument;
  return { root, ...(!report.hasErrors && { document }), diagnostics: report.inOrder() };
}
