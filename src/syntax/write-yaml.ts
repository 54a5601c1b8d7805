import { type JsonValue, escaped } from '../common/index.js';
import { yamlLibrary } from './yaml-library.js';

/** What is shorter than this stands on one line. */
const comfortableLength = 72;

/**
 * Writes a value as YAML that the language reads back as the same value without a warning. Small maps and lists inside
 * others stand on one line.
 */
export function writeYaml(value: JsonValue): string {
  const { Document, isCollection, visit } = yamlLibrary();
  // Words such as `no`, which other readers take for false, are quoted.
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, (key, node, path) => {
    if (key === null || path.length < 4 || !isCollection(node)) return undefined;
    if (JSON.stringify(node.toJSON()).length > comfortableLength) return undefined;
    node.flow = true;
    return visit.SKIP;
  });
  let isSteering = false;
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'string' || isPlain(node.value)) return;
      isSteering = true;
      node.type = 'QUOTE_DOUBLE';
    },
  });
  // Between double quotes, in one line, everything has an escape.
  if (isSteering) return escaped(document.toString({ lineWidth: 0, singleQuote: true, doubleQuotedAsJSON: true }));
  return document.toString({ lineWidth: 110, singleQuote: true });
}

/** Whether a text steers no terminal and no reader of logs, however it is written. */
function isPlain(text: string): boolean {
  return escaped(text) === text && !/^\s*::/m.test(text);
}
