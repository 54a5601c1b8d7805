import { type WrittenScalar, replayScalar } from './scalar-offsets.js';
import type { Range } from './source.js';
import type { ScalarNode, TextNode } from './tree.js';

/** A value that is not there, shown at `place`. */
export function emptyScalar(place: Range): ScalarNode {
  return { kind: 'scalar', value: null, range: place, style: 'plain', offsetOf: () => place.start };
}

/** A number, `true`, `false` or `null`, as it is written. */
export function wordScalar(value: number | boolean | null, range: Range): ScalarNode {
  return {
    kind: 'scalar',
    value,
    range,
    style: 'plain',
    offsetOf: (index) => Math.min(range.start + index, range.end),
  };
}

/** A text; `written` says how, where that is known. */
export function textScalar(
  value: string,
  range: Range,
  style: ScalarNode['style'],
  written: WrittenScalar | undefined,
): TextNode {
  return { kind: 'scalar', value, range, style, offsetOf: offsetsOf(value, range, written) };
}

function offsetsOf(value: string, range: Range, written: WrittenScalar | undefined): (index: number) => number {
  if (written === undefined) return () => range.start;
  // Most are words on one line, which need not keep what they were made of.
  if (isVerbatim(value, written))
    return countedFrom(written.offset + (written.style === 'plain' ? 0 : 1), value.length);
  return replayedWhenAsked(value, range, written);
}

/** Each character of the value stands for itself, one after the other, within quotes or without. */
function isVerbatim(value: string, { style, source }: WrittenScalar): boolean {
  switch (style) {
    case 'plain':
      return source === value;
    case 'single':
    case 'double':
      return source.length === value.length + 2 && source.startsWith(value, 1);
    case 'literal':
    case 'folded':
      return false;
  }
}

function countedFrom(first: number, length: number): (index: number) => number {
  return (index) => first + Math.max(0, Math.min(index, length));
}

/**
 * Few scalars are ever asked. Where the replay disagrees with the value, every character is said to be at the scalar's
 * start: imprecise, never wrong.
 */
function replayedWhenAsked(value: string, range: Range, written: WrittenScalar): (index: number) => number {
  let offsets: readonly number[] | undefined;
  return (index) => {
    if (offsets === undefined) {
      const replay = replayScalar(written);
      offsets = replay.text === value ? replay.offsets : [];
    }
    return offsets[Math.max(0, Math.min(index, value.length))] ?? range.start;
  };
}
