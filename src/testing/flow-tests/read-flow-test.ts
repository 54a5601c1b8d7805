import {
  type Diagnostic,
  type RoughDocument,
  type Source,
  type SyntaxNode,
  parseDocument,
  toValue,
} from '../../syntax/index.js';
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
  const { root, rough, diagnostics } = parseDocument(source);
  if (root === undefined) return { diagnostics: rough === undefined ? diagnostics : withOthers(rough, diagnostics) };
  const report = new FlowTestReport();
  report.diagnostics.push(...diagnostics);
  checkFlowTestShape(root, report);
  // What the shape walk lets through is a document; a test compares it with the JSON Schema.
  const document = toValue(root) as unknown as FlowTestDocument;
  return { root, ...(!report.hasErrors && { document }), diagnostics: report.inOrder() };
}

/** What the shape is like, though something in the YAML is refused. What the tests say of the flow is told once that is mended. */
function withOthers({ root, isEcho }: RoughDocument, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const report = new FlowTestReport();
  checkFlowTestShape(root, report);
  report.diagnostics.push(...diagnostics);
  return report.inOrder().filter((each) => diagnostics.includes(each) || !isEcho(each));
}
