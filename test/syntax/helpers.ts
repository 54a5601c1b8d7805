import { type JsonValue } from '../../src/common/index.js';
import { type Diagnostic, type ScalarNode, Source, nodeAt, parseDocument, toValue } from '../../src/syntax/index.js';

/** `2:1-2 error RS1009 message`, the end of the range with its line where that is another. */
export function located(source: Source, { range, severity, code, message }: Diagnostic): string {
  const start = source.position(range.start);
  const end = source.position(range.end);
  const to = end.line === start.line ? String(end.column) : `${end.line}:${end.column}`;
  return `${start.line}:${start.column}-${to} ${severity} ${code} ${message}`;
}

/** The diagnostics of a text, one line each. */
export function findings(text: string): string[] {
  const source = new Source('flow.yaml', text);
  return parseDocument(source).diagnostics.map((diagnostic) => located(source, diagnostic));
}

/** The only diagnostic of a text. */
export function onlyFinding(text: string): Diagnostic {
  const { diagnostics } = parseDocument(new Source('flow.yaml', text));
  const [diagnostic] = diagnostics;
  if (diagnostic === undefined || diagnostics.length > 1) throw new Error(`${diagnostics.length} diagnostics`);
  return diagnostic;
}

/** The value of a text that must have no error. */
export function valueOf(text: string): JsonValue {
  const { root, diagnostics } = parseDocument(new Source('flow.yaml', text));
  if (root === undefined) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return toValue(root);
}

/** The scalar at `key` of a text that must have no error. */
export function scalarAt(text: string, key: string): ScalarNode {
  const { root, diagnostics } = parseDocument(new Source('flow.yaml', text));
  const node = root === undefined ? undefined : nodeAt(root, [key]);
  if (node?.kind !== 'scalar') throw new Error(diagnostics.map(({ message }) => message).join('; ') || 'no scalar');
  return node;
}
