import { type WorkflowDocument, walkItems } from '../../definition/index.js';
import { type Path, Source, nodeAt, parseDocument } from '../../syntax/index.js';

/** Where an item stands in the text that was stored with a flow: `line 14: step: payments.charge`. */
export function flowLine(document: WorkflowDocument, text: string, key: string): string | undefined {
  let path: Path | undefined;
  walkItems(document, (walked) => {
    if (walked.key === key) path = walked.path;
  });
  if (path === undefined) return undefined;
  const source = new Source('flow', text);
  const { root } = parseDocument(source);
  const node = root && nodeAt(root, path);
  if (node === undefined) return undefined;
  const { line } = source.position(node.range.start);
  const written = (text.split(/\r?\n/)[line - 1] ?? '').trim().replace(/^- /, '');
  return `line ${line}: ${written}`;
}
