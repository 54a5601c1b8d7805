import {
  type Diagnostic,
  type RoughDocument,
  type Source,
  type SyntaxNode,
  nodeAt,
  parseDocument,
  toValue,
} from '../syntax/index.js';
import type { WorkflowDocument } from './document.generated.js';
import { inputSchemaOf } from './input.js';
import { firstProblem } from './json-schema.js';
import { mended } from './mended.js';
import { otherTool } from './other-tools.js';
import { Report, inOrder } from './report.js';
import { problemText } from './schema-fields.js';
import { checkShape } from './shape-walk.js';

export interface ReadWorkflow {
  /**
   * Absent if the text is no YAML, or was written for another tool. Misspelt keys whose right spelling is known have it
   * here; where YAML is used that the language refuses, it is what was probably meant.
   */
  readonly root?: SyntaxNode;
  /** Whether what is found in the tree only repeats what is said of the text. Absent where nothing can. */
  readonly isEcho?: RoughDocument['isEcho'];
  /** Absent if there is an error among the diagnostics. */
  readonly document?: WorkflowDocument;
  /** In order of position. */
  readonly diagnostics: Diagnostic[];
}

/** Reads a flow file as far as its shape goes: YAML (RS1…) and the shapes of the language (RS2…). */
export function readWorkflow(source: Source): ReadWorkflow {
  const { root: sound, rough, diagnostics } = parseDocument(source);
  const root = sound ?? rough?.root;
  if (root === undefined) return { diagnostics };
  const report = new Report();
  const other = otherTool(root);
  if (other !== undefined) {
    report.error('RS2042', other.range, `this file was written for ${other.tool}`, other.help);
    return { diagnostics: report.inOrder() };
  }
  const renamed = checkShape(root, report);
  if (rough !== undefined) {
    const found = report.inOrder().filter((each) => !rough.isEcho(each));
    return { root: mended(root, renamed), isEcho: rough.isEcho, diagnostics: inOrder([...diagnostics, ...found]) };
  }
  report.diagnostics.push(...diagnostics);
  if (report.hasErrors) return { root: mended(root, renamed), diagnostics: report.inOrder().filter(isNoEcho) };
  // What the shape walk lets through is a document; a test compares it with the JSON Schema.
  const document = toValue(root) as unknown as WorkflowDocument;
  checkScheduledInput(root, document, report);
  return { root, ...(!report.hasErrors && { document }), diagnostics: report.inOrder() };
}

/** An unquoted `yes` where `true` is needed is an error that needs no warning beside it. */
function isNoEcho(diagnostic: Diagnostic, _: number, all: readonly Diagnostic[]): boolean {
  const { severity, range } = diagnostic;
  return severity === 'error' || !all.some((other) => other.severity === 'error' && other.range.start === range.start);
}

function checkScheduledInput(root: SyntaxNode, document: WorkflowDocument, report: Report): void {
  if (document.schedule === undefined) return;
  const schema = inputSchemaOf(document);
  document.schedule.forEach((entry, index) => {
    const input = entry.input ?? (entry.input === null ? null : {});
    const problem = firstProblem(schema, input, { fillDefaults: true });
    const node = nodeAt(root, ['schedule', index, 'input']) ?? nodeAt(root, ['schedule', index]);
    if (problem === undefined || node === undefined) return;
    const message = `the input of this schedule does not fit the workflow's: ${problemText(problem)}`;
    const help =
      entry.input === undefined ? 'give the schedule an `input`' : 'give it what `input` of the workflow lists';
    report.error('RS2033', node.range, message, help);
  });
}
