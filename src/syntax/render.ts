import type { Diagnostic, Severity } from './diagnostic.js';
import { type Cell, type Color, cellsOf, harmless, oneLine, paint, wrap } from '../common/index.js';
import type { Range, Source } from './source.js';

export interface RenderOptions {
  /** ANSI colours; default false. */
  readonly color?: boolean;
  /** Of the terminal: texts are broken to fit, and of source lines the part around the mistake is shown. */
  readonly columns?: number | undefined;
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
  return diagnostics.map((diagnostic) => renderOne(diagnostic, source, paint, options.columns)).join('\n');
}

function renderOne(diagnostic: Diagnostic, source: Source, paint: Paint, columns: number | undefined): string {
  const { severity, code, message, range, help } = diagnostic;
  const start = source.position(range.start);
  const place = `${oneLine(source.name)}:${start.line}:${start.column}:`;
  const head = `${place} ${severity} ${code}: `;
  const lines = broken(head + oneLine(message), columns, 2);
  // What is painted is in the first line, or in the first two where the place is long.
  lines[0] = (lines[0] ?? '').replace(place, () => paint('bold', place));
  const at = lines.findIndex((line) => line.includes(`${severity} ${code}:`));
  if (at >= 0) lines[at] = (lines[at] ?? '').replace(`${severity} ${code}:`, (text) => paint(severity, text));

  // Of a file that is no flow nothing is shown: it may hold anything.
  if (code !== 'RS2047') lines.push(...excerptOf(source, range, severity, paint, columns));
  const [first = '', ...rest] = help.split('\n').map(harmless);
  const [begin = '', ...more] = broken(`  help: ${first}`, columns, 8);
  lines.push(
    begin.replace('help:', (text) => paint('help', text)),
    ...more,
  );
  // What is indented is an example, to be copied as it is.
  lines.push(
    ...rest.flatMap((line) => broken(`        ${line}`.trimEnd(), line.startsWith(' ') ? undefined : columns, 8)),
  );
  return `${lines.join('\n')}\n`;
}

/** The line in which a range begins, numbered, and carets under the range; nothing where that line is blank. */
export function renderExcerpt(source: Source, range: Range, options: RenderOptions = {}): string[] {
  return excerptOf(source, range, 'error', options.color === true ? painted : plain, options.columns);
}

function broken(text: string, columns: number | undefined, indent: number): string[] {
  return columns === undefined ? [text] : wrap(text, columns, indent);
}

function excerptOf(
  source: Source,
  range: Range,
  severity: Severity,
  paint: Paint,
  columns: number | undefined,
): string[] {
  const start = source.position(range.start);
  const sourceLine = source.line(start.line);
  if (sourceLine.trim() === '') return [];
  const end = source.position(range.end);
  const from = start.column - 1;
  const to = end.line === start.line ? end.column - 1 : sourceLine.trimEnd().length;
  const number = String(start.line);
  const room = columns === undefined ? longestLine : Math.max(20, Math.min(longestLine, columns - number.length - 7));
  const frame = frameOf(cellsOf(sourceLine), from, Math.max(to, from + 1), room);
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
function frameOf(cells: readonly Cell[], from: number, to: number, room: number): Frame {
  const first = cells.findIndex((cell) => from < cell.offset + cell.length);
  const shown = window(cells, first < 0 ? cells.length : first, room);
  const before = shown.cells.filter((cell) => cell.offset + cell.length <= from);
  const under = shown.cells.filter((cell) => cell.offset + cell.length > from && cell.offset < to);
  return {
    text: shown.prefix + shown.cells.map((cell) => cell.text).join('') + shown.suffix,
    indent: ' '.repeat(shown.prefix.length + widthOf(before)),
    carets: '^'.repeat(Math.max(1, widthOf(under))),
  };
}

/** Cells that take at most so many columns; a third of them before the place, if there are so many. */
function window(
  cells: readonly Cell[],
  around: number,
  room: number,
): { cells: readonly Cell[]; prefix: string; suffix: string } {
  if (widthOf(cells) <= room) return { cells, prefix: '', suffix: '' };
  let start = Math.min(around, cells.length);
  let before = 0;
  while (start > 0 && before + (cells[start - 1]?.width ?? 0) <= Math.floor(room / 3)) {
    start -= 1;
    before += cells[start]?.width ?? 0;
  }
  let end = start;
  let taken = 0;
  while (end < cells.length && taken + (cells[end]?.width ?? 0) <= room) {
    taken += cells[end]?.width ?? 0;
    end += 1;
  }
  // Near the end of the line there is room for more before it.
  while (end === cells.length && start > 0 && taken + (cells[start - 1]?.width ?? 0) <= room) {
    start -= 1;
    taken += cells[start]?.width ?? 0;
  }
  return { cells: cells.slice(start, end), prefix: start > 0 ? '…' : '', suffix: end < cells.length ? '…' : '' };
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((width, cell) => width + cell.width, 0);
}

type Style = Severity | 'bold' | 'faint' | 'help';
type Paint = (style: Style, text: string) => string;

const colors: Readonly<Record<Style, Color>> = {
  error: 'red',
  warning: 'yellow',
  help: 'cyan',
  bold: 'bold',
  faint: 'faint',
};

const painted: Paint = (style, text) => paint(text, colors[style]);
const plain: Paint = (_style, text) => text;
