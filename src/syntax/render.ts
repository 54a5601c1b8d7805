import type { Diagnostic, Severity } from './diagnostic.js';
import { type Cell, cellsOf, harmless } from './display-width.js';
import type { Range, Source } from './source.js';

export interface RenderOptions {
  /** ANSI colours; default false. */
  readonly color?: boolean;
}

/** Columns of a source line that are shown at most; of a longer one the part around the mistake. */
const longestLine = 140;

/**
 * Diagnostics of one file for people: place, severity, code and message, the source line with carets under
 * exactly the wrong words, and how to mend it. Ends with a line break unless there are none.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  source: Source,
  options: RenderOptions = {},
): string {
  const paint = options.color === true ? painted : plain;
  return diagnostics.map((diagnostic) => renderOne(diagnostic, source, paint)).join('\n');
}

function renderOne(diagnostic: Diagnostic, source: Source, paint: Paint): string {
  const { severity, code, message, range, help } = diagnostic;
  const start = source.position(range.start);
  const place = `${harmless(source.name)}:${start.line}:${start.column}:`;
  const lines = [`${paint('bold', place)} ${paint(severity, `${severity} ${code}:`)} ${oneLine(message)}`];

  lines.push(...excerptOf(source, range, severity, paint));
  if (help !== undefined) {
    const [first = '', ...rest] = help.split('\n').map(harmless);
    lines.push(`  ${paint('help', 'help:')} ${first}`, ...rest.map((line) => `        ${line}`.trimEnd()));
  }
  return `${lines.join('\n')}\n`;
}

/** The line in which a range begins, numbered, and carets under the range; nothing where that line is blank. */
export function renderExcerpt(source: Source, range: Range, options: RenderOptions = {}): string[] {
  return excerptOf(source, range, 'error', options.color === true ? painted : plain);
}

function excerptOf(source: Source, range: Range, severity: Severity, paint: Paint): string[] {
  const start = source.position(range.start);
  const sourceLine = source.line(start.line);
  if (sourceLine.trim() === '') return [];
  const end = source.position(range.end);
  const from = start.column - 1;
  const to = end.line === start.line ? end.column - 1 : sourceLine.trimEnd().length;
  const frame = frameOf(cellsOf(sourceLine), from, Math.max(to, from + 1));
  const number = String(start.line);
  return [
    `${paint('faint', `  ${number} |`)} ${frame.text}`,
    `${paint('faint', `  ${' '.repeat(number.length)} |`)} ${frame.indent}${paint(severity, frame.carets)}`,
  ];
}

interface Frame {
  readonly text: string;
  readonly indent: string;
  readonly carets: string;
}

/** `from` and `to` are UTF-16 offsets into the line; `from` may be its end. */
function frameOf(cells: readonly Cell[], from: number, to: number): Frame {
  const first = cells.findIndex((cell) => from < cell.offset + cell.length);
  const shown = window(cells, first < 0 ? cells.length : first);
  const before = shown.cells.filter((cell) => cell.offset + cell.length <= from);
  const under = shown.cells.filter((cell) => cell.offset + cell.length > from && cell.offset < to);
  return {
    text: shown.prefix + shown.cells.map((cell) => cell.text).join('') + shown.suffix,
    indent: ' '.repeat(shown.prefix.length + widthOf(before)),
    carets: '^'.repeat(Math.max(1, widthOf(under))),
  };
}

function window(cells: readonly Cell[], around: number): { cells: readonly Cell[]; prefix: string; suffix: string } {
  if (cells.length <= longestLine) return { cells, prefix: '', suffix: '' };
  const start = Math.max(0, Math.min(around - Math.floor(longestLine / 3), cells.length - longestLine));
  const end = start + longestLine;
  return { cells: cells.slice(start, end), prefix: start > 0 ? '…' : '', suffix: end < cells.length ? '…' : '' };
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((width, cell) => width + cell.width, 0);
}

function oneLine(message: string): string {
  return harmless(message.replace(/\s*\n\s*/g, ' '));
}

type Style = Severity | 'bold' | 'faint' | 'help';
type Paint = (style: Style, text: string) => string;

const codes: Readonly<Record<Style, number>> = { error: 31, warning: 33, help: 36, bold: 1, faint: 2 };

const painted: Paint = (style, text) => (text === '' ? '' : `\u001b[${codes[style]}m${text}\u001b[0m`);
const plain: Paint = (_style, text) => text;
