import { Composer, Parser } from 'yaml';
import type { Diagnostic } from './diagnostic.js';
import type { Source } from './source.js';
import type { SyntaxNode } from './tree.js';
import { TreeBuilder, limits } from './tree-builder.js';

export interface ParsedDocument {
  /** Absent if there is an error among the diagnostics. */
  readonly root?: SyntaxNode;
  readonly diagnostics: Diagnostic[];
}

/** Reads YAML 1.2 (of which JSON is a part) as the language allows it. */
export function parseDocument(source: Source): ParsedDocument {
  if (source.text.length > limits.size) {
    const diagnostic: Diagnostic = {
      code: 'RS1004',
      severity: 'error',
      message: 'the file is larger than 1 MiB',
      range: { start: 0, end: 0 },
    };
    return { diagnostics: [diagnostic] };
  }
  const tokens = [...new Parser().parse(source.text)];
  const composer = new Composer({
    version: '1.2',
    merge: false,
    strict: true,
    stringKeys: true,
    uniqueKeys: false,
    keepSourceTokens: true,
  });
  const documents = [...composer.compose(tokens)];
  const [document, second] = documents;
  const problems = documents.flatMap((each) => [...each.errors, ...each.warnings]);
  if (problems.length > 0) {
    const diagnostics = problems.map((problem): Diagnostic => ({
      code: problem.code === 'TAB_AS_INDENT' ? 'RS1017' : 'RS1001',
      severity: 'error',
      message: problem.message,
      range: { start: problem.pos[0], end: problem.pos[1] },
    }));
    return { diagnostics };
  }
  if (document === undefined || document.contents === null || isNothing(document.contents)) {
    return {
      diagnostics: [{ code: 'RS1002', severity: 'error', message: 'the file is empty', range: { start: 0, end: 0 } }],
    };
  }
  if (second !== undefined) {
    const start = second.range[0];
    return {
      diagnostics: [
        {
          code: 'RS1003',
          severity: 'error',
          message: 'the file holds more than one document',
          range: { start, end: start + 3 },
          help: 'one file holds one flow: move the rest into a file of its own',
        },
      ],
    };
  }
  const builder = new TreeBuilder(source);
  const root = builder.build(document);
  const { diagnostics } = builder;
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? { diagnostics } : { root, diagnostics };
}

function isNothing(contents: object): boolean {
  return 'source' in contents && contents.source === '';
}
