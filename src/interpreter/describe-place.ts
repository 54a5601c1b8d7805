import type { Definition } from '../definition/index.js';
import { type Path, nodeAt, parseDocument } from '../syntax/index.js';

/**
 * Where something of a definition stands: `order.yaml:12:9 (steps[3].when)`, or the path alone where
 * the text is not at hand. Read from the source anew, since this is wanted only when a run fails.
 */
export function describePlace(definition: Definition, path: Path): string {
  const text = path
    .map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : index === 0 ? segment : `.${segment}`))
    .join('');
  if (definition.source === undefined) return text;
  const { root } = parseDocument(definition.source);
  const node = root && nodeAt(root, path);
  if (node === undefined) return text;
  const { line, column } = definition.source.position(node.range.start);
  return `${definition.source.name}:${line}:${column} (${text})`;
}
