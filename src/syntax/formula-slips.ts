import { type Place, colonOf } from './cst-walk.js';
import type { Diagnostic } from './diagnostic.js';
import { foreignMarkerMessage, waysOutOf } from './foreign-markers.js';
import type { FormulaEnds } from './formula-ends.js';
import type { Range } from './source.js';

/**
 * A mistake whose extent is known, so that the rest of the file can still be read: `mask` says what to
 * blank out before reading it again, keeping every offset.
 */
export interface Slip {
  readonly diagnostic: Diagnostic;
  readonly masks: readonly Mask[];
}

export interface Mask {
  readonly range: Range;
  /** `word`: stays a plain scalar; `blank`: spaces; `comment`: the line becomes a comment. */
  readonly as: 'word' | 'blank' | 'comment';
}

/** Fields that hold a formula with or without its `=`. */
const formulaFields = new Set(['when', 'forEach', 'doWhile', 'doUntil', 'filter', 'until']);

/**
 * An unquoted formula inside `{ … }` or `[ … ]` that YAML ends before the formula ends:
 * `{ r: =$round($x, 2) }` would silently be two keys, `{ a: =$x[0] }` a cascade of errors.
 */
export function flowFormulaSlip(place: Place, text: string, ends: FormulaEnds): Slip | undefined {
  const { token } = place;
  if (!place.inFlow || token.type !== 'scalar') return undefined;
  // A key such as `$secret` is no formula.
  if (!(place.role === 'key' ? /^=/ : /^[=$]/).test(token.source)) return undefined;
  const start = token.offset;
  const end = ends.of(start);
  if (end <= start + token.source.length) return undefined;
  const formula = text.slice(start, end).replace(/\s*\n\s*/g, ' ');
  const range = { start, end };
  return {
    diagnostic: {
      code: 'RS1019',
      severity: 'error',
      message: 'inside `{ … }` or `[ … ]` YAML cuts an unquoted formula up at its own commas, colons and brackets',
      range,
      help: `quote it: ${singleQuoted(formula)}\nor write the collection in block style, one entry a line`,
    },
    masks: [{ range, as: 'word' }],
  };
}

/** An unquoted marker of another tool at the beginning of a value: to YAML `{{ name }}` is a map in a map. */
export function markerSlip({ token, inFlow }: Place, text: string): Slip | undefined {
  if (token.type !== 'flow-collection') return undefined;
  const start = token.offset;
  const line = text.slice(start, lineEnd(text, start));
  const marker = /^(?:\{\{.*?\}\}|\{%.*?%\})/.exec(line)?.[0];
  if (marker === undefined) return undefined;
  // What stands behind it belongs to the same text.
  const rest = (inFlow ? /^[^,}\]]*/ : /^(?:(?!\s#).)*/).exec(line.slice(marker.length))?.[0].trimEnd() ?? '';
  const value = marker + rest;
  return {
    diagnostic: {
      code: 'RS2026',
      severity: 'error',
      message: foreignMarkerMessage(marker),
      range: { start, end: start + marker.length },
      help: waysOutOf(value, marker),
    },
    masks: [{ range: { start, end: start + value.length }, as: 'word' }],
  };
}

/** Unquoted text with `: ` in it: `x: =$a ? 1 : 2`, `note: Rejected: by hand`, `- =$a ? 1 : 2`. */
export function colonSlip(place: Place, text: string): Slip | undefined {
  if (place.inFlow) return undefined;
  return place.role === 'key' ? formulaAsKey(place, text) : mapOnItsKeysLine(place, text);
}

/** Keys are never formulas, so an unquoted key that begins with `=` is half of one. */
function formulaAsKey({ token, colon: colonAt }: Place, text: string): Slip | undefined {
  if (token.type !== 'scalar' || !token.source.startsWith('=') || colonAt === undefined) return undefined;
  const start = token.offset;
  const colon = { start: colonAt, end: colonAt + 1 };
  const whole = { start, end: extentOf(text, start, columnOf(text, start)) };
  return {
    diagnostic: colonDiagnostic(colon, { text: text.slice(start, whole.end), isFormula: true }),
    masks: [
      { range: { start, end: start + 1 }, as: 'word' },
      { range: { start: colon.end, end: whole.end }, as: 'word' },
    ],
  };
}

function mapOnItsKeysLine({ token, owner, sameLine }: Place, text: string): Slip | undefined {
  if (token.type !== 'block-map' || owner === undefined || owner.type !== 'scalar' || !sameLine) return undefined;
  const [first] = token.items;
  const colon = colonOf(first?.sep);
  const key = first?.key;
  if (key?.type !== 'scalar' || colon === undefined) return undefined;
  const start = key.offset;
  const isFormula = /^[=$]/.test(key.source) || formulaFields.has(owner.source);
  // Text over several lines is the rule of indentation broken, not a colon too many.
  if (!isFormula && key.source.includes('\n')) return undefined;
  const range = { start, end: extentOf(text, start, columnOf(text, owner.offset)) };
  const value = text.slice(start, range.end);
  return {
    diagnostic: colonDiagnostic({ start: colon, end: colon + 1 }, { text: value, key: owner.source, isFormula }),
    masks: [{ range, as: 'word' }],
  };
}

function colonDiagnostic(range: Range, value: { text: string; key?: string; isFormula: boolean }): Diagnostic {
  const lines = value.text.split(/\s*\n\s*/);
  const key = value.key === undefined ? '' : `${value.key}: `;
  const help = value.isFormula
    ? `write it as a block of text:\n  ${key}>-\n    ${lines.join('\n    ')}`
    : `quote it: ${key}${quoted(lines.join(' '))}`;
  return {
    code: 'RS1018',
    severity: 'error',
    message: `an unquoted ${value.isFormula ? 'formula' : 'text'} cannot hold \`: \`, which starts a map in YAML`,
    range,
    help,
  };
}

/** The end of a value that began at `start`: of its line and of the lines below that are indented deeper than `column`. */
function extentOf(text: string, start: number, column: number): number {
  let end = lineEnd(text, start);
  for (;;) {
    const next = /^\r?\n( *)[^\s#]/.exec(text.slice(end, end + 1024));
    if (next === null || (next[1] ?? '').length <= column) break;
    end = lineEnd(text, end + next[0].length);
  }
  return start + text.slice(start, end).trimEnd().length;
}

function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  const end = newline < 0 ? text.length : newline;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoted(text: string): string {
  return /["\\]/.test(text) ? singleQuoted(text) : `"${text}"`;
}
