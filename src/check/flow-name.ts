import { type Source, entryOf, parseDocument, textOf } from '../syntax/index.js';

/** The name of a flow, whatever else is wrong with its file; it may be no YAML. */
export function flowNameOf(source: Source): string | undefined {
  const { root } = parseDocument(source);
  if (root === undefined) return /^[\s{]*"?workflow"?:[ \t]*["']?([\w.-]+)/m.exec(source.text)?.[1];
  return textOf(entryOf(root, 'workflow')?.value);
}
