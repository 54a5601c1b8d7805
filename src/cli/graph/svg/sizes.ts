import type { GraphNode, Label } from '../graph.js';
import { textWidth } from './text-width.js';

/** In pixels. */
export const sizes = {
  title: 13,
  line: 11,
  edge: 11,
  titleHeight: 18,
  lineHeight: 15,
  /** Inside a node, between its border and its text. */
  padding: 10,
  /** Around what is in a box. */
  margin: 16,
} as const;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface NodeText {
  readonly label: Label;
  /** `title`, `state`, or the role of a line. */
  readonly role: string;
  readonly bold: boolean;
}

/** The texts of a node in the order in which they are drawn. */
export function textsOf({ title, lines, state }: GraphNode): NodeText[] {
  return [
    ...(title.text === '' ? [] : [{ bold: true, label: title, role: 'title' }]),
    ...lines.map((line) => ({ bold: false, label: line, role: line.role })),
    ...(state === undefined || state.text === '' ? [] : [{ bold: false, label: { text: state.text }, role: 'state' }]),
  ];
}

/** What the texts of a node need; of a box, its head. */
export function textSize(node: GraphNode): Size {
  if (node.kind === 'leaf' && node.shape === 'decision') return { width: 26, height: 26 };
  const { title, line, titleHeight, lineHeight, padding } = sizes;
  let width = 0;
  let height = 2 * padding - 4;
  for (const { role, bold, label } of textsOf(node)) {
    width = Math.max(width, textWidth(label.text, bold ? title : line, bold || role === 'state'));
    height += bold ? titleHeight : lineHeight;
  }
  // What the outline takes from the inside.
  const slant = node.kind === 'leaf' && (node.shape === 'gate' || node.shape === 'child') ? 16 : 0;
  return { width: Math.ceil(Math.max(width + 2 * padding + slant, 60)), height };
}
