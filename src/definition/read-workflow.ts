import { nearest } from '../common/index.js';
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
import { type Renamed, checkShape } from './shape-walk.js';
import { workflowShape } from './shapes.js';

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
  if (root === undefined)
    return { diagnostics: isLikeFlow(source.text) ? diagnostics : inOrder(diagnostics.map(withoutText)) };
  const report = new Report();
  const other = otherTool(root);
  if (other !== undefined) {
    report.error('RS2042', other.range, `this file was written for ${other.tool}`, other.help);
    return { diagnostics: report.inOrder() };
  }
  if (root.kind === 'scalar' && !isLikeFlow(source.text)) {
    report.error('RS2047', { start: 0, end: 0 }, 'this file is not a flow', notAFlow);
    return { diagnostics: report.inOrder() };
  }
  if (root.kind === 'mapping' && root.entries.length > 0 && !root.entries.some(({ key }) => isOfFlow(key.value))) {
    const [first] = root.entries;
    const help = 'a flow begins with `workflow: <name>` and has `steps`; other files belong in another folder';
    report.error('RS2047', first?.key.range ?? root.range, 'this file is not a flow: it has no `workflow`', help);
    return { diagnostics: report.inOrder() };
  }
  let renamed: Renamed = new Map();
  report.within(() => (renamed = checkShape(root, report)));
  if (report.isFull) return { diagnostics: report.inOrder() };
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

/** Whether a key may be one of a flow, perhaps misspelt or as another tool calls it. */
function isOfFlow(key: string): boolean {
  return !commonKeys.has(key) && (Object.hasOwn(workflowShape.keys, key) || isNear(key));
}

/** Keys of flows that files of any kind have. */
const commonKeys: ReadonlySet<string> = new Set(['$schema', 'description', 'labels', 'timeout']);

function isNear(key: string): boolean {
  return nearest(key, ['workflow', 'steps', 'input', 'output']) !== undefined || otherSteps.has(key.toLowerCase());
}

/** What other tools call the steps of a flow. */
const otherSteps: ReadonlySet<string> = new Set('tasks jobs states stages activities flow do pipeline'.split(' '));

/** Whether a text that could not be read says of itself, in some line, that it is a flow. */
function isLikeFlow(text: string): boolean {
  return /^[^\S\n]*[{"'\uFEFF]*[ \t]*["']?(workflow|steps|input|output)["']?[ \t]*:/im.test(text);
}

/** What is said of a file that is no flow repeats nothing of it: it may have been reached by mistake, or by a link. */
function withoutText(diagnostic: Diagnostic): Diagnostic {
  if (!/^RS10(01|08|09|18)$/.test(diagnostic.code)) return diagnostic;
  return {
    ...diagnostic,
    code: 'RS2047',
    message: 'this file is not a flow',
    help: notAFlow,
    range: { start: 0, end: 0 },
  };
}

const notAFlow = 'a flow begins with `workflow: <name>` and has `steps`';
