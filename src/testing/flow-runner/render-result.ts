import { type Color, durationText, fittedTable, oneLine, paint, wrap } from '../../common/index.js';
import {
  type Path,
  type Range,
  type RenderOptions,
  type Source,
  type SyntaxNode,
  entryOf,
  nodeAt,
  renderExcerpt,
} from '../../syntax/index.js';
import type { TestFailure } from './failure.js';
import type { TestResult } from './run-test.js';
import type { Trace, TraceStep } from './trace.js';

/** The file of a test, to show where something stands in it. */
export interface TestFile {
  readonly source: Source;
  readonly root: SyntaxNode;
}

/** Steps that are shown at most: of a year of billing the last ones say what went wrong. */
const mostSteps = 40;

/**
 * What is wrong with a test, for people: each failure at its line, with what was expected and what is there, then
 * what the run did. Ends with a line break; empty where nothing is wrong.
 */
export function renderFailures(result: TestResult, file: TestFile, options: RenderOptions = {}): string {
  if (result.ok) return '';
  const failures = result.failures.map((failure) => renderFailure(failure, file, options));
  const trace = result.trace === undefined ? '' : `\n${renderTrace(result.trace, options.columns)}`;
  return `${failures.join('\n')}${trace}`;
}

function renderFailure(
  { path, range: known, message, diff = [], help }: TestFailure,
  { source, root }: TestFile,
  options: RenderOptions,
): string {
  const styled = options.color === true ? painted : plain;
  const range = known ?? rangeOf(root, path);
  const { line, column } = source.position(range.start);
  const { columns } = options;
  const place = `${oneLine(source.name)}:${line}:${column}:`;
  const [head = '', ...more] = broken(`${place} failed: ${oneLine(message)}`, columns, 2);
  const lines = [
    head.replace(place, (text) => styled('bold', text)).replace(' failed:', () => ` ${styled('red', 'failed:')}`),
    ...more,
    ...renderExcerpt(source, range, options),
    ...diff
      .map(oneLine)
      .map(
        (text) =>
          `  ${text.startsWith('-') ? styled('red', text) : text.startsWith('+') ? styled('green', text) : text}`,
      ),
  ];
  if (help !== undefined) {
    const [first = '', ...rest] = help.split('\n').map(oneLine);
    const [begin = '', ...others] = broken(`  help: ${first}`, columns, 8);
    lines.push(
      begin.replace('help:', (text) => styled('cyan', text)),
      ...others,
    );
    lines.push(...rest.flatMap((text) => broken(`        ${text}`, text.startsWith(' ') ? undefined : columns, 8)));
  }
  return `${lines.join('\n')}\n`;
}

function broken(text: string, columns: number | undefined, indent: number): string[] {
  return columns === undefined ? [text] : wrap(text, columns, indent);
}

type Paint = (color: Color, text: string) => string;

const painted: Paint = (color, text) => paint(text, color);
const plain: Paint = (_color, text) => text;

/** The words under which something stands: of what covers many lines its key, of a test its name. */
function rangeOf(root: SyntaxNode, path: Path): Range {
  const node = nodeAt(root, path);
  const last = path.at(-1);
  if (node === undefined) return last === undefined ? root.range : rangeOf(root, path.slice(0, -1));
  const name = entryOf(node, 'name')?.value;
  if (path.length === 2 && path[0] === 'tests' && name !== undefined) return name.range;
  if (node.kind === 'scalar' || node.flow) return node.range;
  const entry = typeof last === 'string' ? entryOf(nodeAt(root, path.slice(0, -1)), last) : undefined;
  return entry?.key.range ?? node.range;
}

function renderTrace({ status, elapsedMs, steps, waitsFor }: Trace, columns: number | undefined): string {
  const shown = steps.slice(-mostSteps);
  const left = steps.length - shown.length;
  const part = left === 0 ? '' : `, the last ${shown.length} of ${steps.length} steps`;
  const head = `  what the run did (${status} after ${durationText(elapsedMs)} of virtual time${part}):`;
  const rows = fittedTable(shown.map(row), columns === undefined ? undefined : columns - 4).trimEnd();
  const waits = waitsFor.map((text) => `  it waits for ${oneLine(text)}`);
  const none =
    steps.length === 0
      ? ['    nothing that takes time, and no handler']
      : rows.split('\n').map((text) => `    ${text}`);
  return `${[...broken(head, columns, 4), ...none, ...waits.flatMap((text) => broken(text, columns, 4))].join('\n')}\n`;
}

function row({ place, state, attempts, interruptions, atMs, tookMs, detail }: TraceStep): string[] {
  return [
    place,
    state,
    attemptsText(attempts, interruptions),
    atMs === undefined ? '' : `at ${durationText(atMs)}`,
    tookMs === undefined || tookMs === 0 ? '' : `took ${durationText(tookMs)}`,
    detail,
  ];
}

function attemptsText(attempts: number, interruptions: number): string {
  const cut = interruptions === 0 ? '' : ` (${interruptions} interrupted)`;
  return attempts === 0 ? '' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${cut}`;
}
