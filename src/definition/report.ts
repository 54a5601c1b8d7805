import {
  type Diagnostic,
  type DiagnosticCode,
  type MappingEntry,
  type Range,
  type SyntaxNode,
  TooManyDiagnostics,
  byPlace,
  limits,
  overflow,
} from '../syntax/index.js';

/** Collects diagnostics; the shape walk and the checks write into one. */
export class Report {
  readonly diagnostics: Diagnostic[] = [];

  /** @throws TooManyDiagnostics */
  error(code: DiagnosticCode, range: Range, message: string, help: string): void {
    this.#add({ code, severity: 'error', message, range, help });
  }

  /** @throws TooManyDiagnostics */
  warning(code: DiagnosticCode, range: Range, message: string, help: string): void {
    this.#add({ code, severity: 'warning', message, range, help });
  }

  /** Runs a check, unless more was found already than is told. */
  within(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof TooManyDiagnostics)) throw error;
      if (!this.isFull) this.diagnostics.push(overflow(error.range));
      this.isFull = true;
    }
  }

  /** Whether there are more mistakes than are told. */
  isFull = false;

  #add(diagnostic: Diagnostic): void {
    if (this.diagnostics.length >= limits.diagnostics) throw new TooManyDiagnostics(diagnostic.range);
    this.diagnostics.push(diagnostic);
  }

  get hasErrors(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  }

  inOrder(): Diagnostic[] {
    return inOrder(this.diagnostics);
  }
}

/** In order of position, so that a reader goes through the file once; what an alias repeats only once. */
export function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const distinct = new Map(
    diagnostics.map((each) => [`${each.code} ${each.range.start} ${each.range.end} ${each.message}`, each]),
  );
  return [...distinct.values()].sort(byPlace);
}

/** What to underline for a value: itself, or its key where the value is a list or map of many lines. */
export function valueRange(entry: MappingEntry): Range {
  const { key, value } = entry;
  return value.kind === 'scalar' && value.value !== null ? value.range : key.range;
}

/** How messages call a value: `a list`, `the text "abc"`, `the number 5`, `nothing`. */
export function describe(node: SyntaxNode): string {
  if (node.kind === 'sequence') return 'a list';
  if (node.kind === 'mapping') return 'a map';
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'string') return `the text ${quoted(node.value)}`;
  return typeof node.value === 'number' ? `the number ${node.value}` : `${node.value}`;
}

/** A text in quotes, shortened if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}…` : text);
}

/** `a`, `b` or `c`, each in backticks. */
export function listed(words: readonly string[], conjunction = 'or'): string {
  return enumerated(
    words.map((word) => `\`${word}\``),
    conjunction,
  );
}

/** The same without backticks. */
export function enumerated(words: readonly string[], conjunction: string): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}
