export { type Comment, commentsOf } from './comments.js';
export { type Diagnostic, type Severity, byPlace } from './diagnostic.js';
export { type DiagnosticCode, diagnosticCodes } from './diagnostic-codes.js';
export { type Position, type Range, Source } from './source.js';
export {
  type MappingEntry,
  type MappingNode,
  type Path,
  type ScalarNode,
  type SequenceNode,
  type SyntaxNode,
  type TextNode,
  entryOf,
  isText,
  nodeAt,
  textOf,
  toValue,
} from './tree.js';
export { parseDocument } from './parse.js';
export { type ParsedDocument } from './parsed-document.js';
export { type RoughDocument } from './rough-document.js';
export { foreignMarker, foreignMarkerMessage, ourPath, waysOutOf } from './foreign-markers.js';
export { nearest } from '../common/index.js';
export { writeYaml } from './write-yaml.js';
export { type RenderOptions, renderDiagnostics, renderExcerpt } from './render.js';
export { type DiagnosticsJson, type Findings, diagnosticsToJson } from './diagnostics-json.js';
export { limits } from './limits.js';
export { TooManyDiagnostics, capped, overflow, uncheckable } from './overflow.js';
