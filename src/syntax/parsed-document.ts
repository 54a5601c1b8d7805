import type { Diagnostic } from './diagnostic.js';
import type { RoughDocument } from './rough-document.js';
import type { SyntaxNode } from './tree.js';

export interface ParsedDocument {
  /** Absent if there is an error among the diagnostics. */
  readonly root?: SyntaxNode;
  /** In its place, where the text could be read to its end although something in it is refused. */
  readonly rough?: RoughDocument;
  /** In order of position. */
  readonly diagnostics: Diagnostic[];
}
