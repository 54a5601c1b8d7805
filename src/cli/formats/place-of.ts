import type { Diagnostic, Position, Source } from '../../syntax/index.js';

/** Where a diagnostic begins and ends in its file; the end exclusive. */
export function placeOf(source: Source, { range }: Diagnostic): { start: Position; end: Position } {
  return { start: source.position(range.start), end: source.position(range.end) };
}

/** What is wrong and how to mend it, as one text. */
export function textOf({ message, help }: Diagnostic): string {
  return `${message}\nhelp: ${help}`;
}
