import type { Diagnostic } from './diagnostic.js';
import { readByLibrary } from './library-reader.js';
import { limits } from './limits.js';
import { capped } from './overflow.js';
import type { ParsedDocument } from './parsed-document.js';
import { readPlain } from './plain-reader/index.js';
import type { Source } from './source.js';

/**
 * Reads YAML 1.2, of which JSON is a part, as far as the language allows it. What is plainly sound is read directly;
 * about everything else the YAML library is asked, which alone says what is wrong.
 */
export function parseDocument(source: Source): ParsedDocument {
  const unreadable = unreadableText(source);
  if (unreadable !== undefined) return { diagnostics: [unreadable] };
  const root = readPlain(source.text);
  if (root !== undefined) return { root, diagnostics: [] };
  const read = readByLibrary(source);
  // So many mistakes leave no tree in which others could be looked for.
  return read.diagnostics.length > limits.diagnostics ? { diagnostics: capped(read.diagnostics) } : read;
}

function unreadableText(source: Source): Diagnostic | undefined {
  if (source.unreadable !== undefined) {
    return {
      code: 'RS1036',
      severity: 'error',
      message: `the file cannot be read: ${source.unreadable}`,
      range: { start: 0, end: 0 },
      help: 'remove it from the folder, or put the flow itself in its place',
    };
  }
  if (Buffer.byteLength(source.text) > limits.bytes) {
    return {
      code: 'RS1004',
      severity: 'error',
      message: 'the file is larger than 1 MiB',
      range: { start: 0, end: 0 },
      help: 'pass large data as input, or let a handler read it',
    };
  }
  const start = source.undecodableAt;
  if (start === undefined) return undefined;
  return {
    code: 'RS1006',
    severity: 'error',
    message: 'the file is not UTF-8 from here on',
    range: { start, end: start + 1 },
    help: 'save it as UTF-8',
  };
}
