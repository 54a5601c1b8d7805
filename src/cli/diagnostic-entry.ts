import { readFileSync } from 'node:fs';
import { packageFile } from './package-files.js';

/** An entry of `docs/reference/diagnostics.md`. */
export interface DiagnosticEntry {
  readonly code: string;
  readonly title: string;
  readonly severity: 'error' | 'warning';
  /** Markdown, without the examples. */
  readonly meaning: string;
  /** YAML; absent where no example can be printed. */
  readonly wrong?: string;
  readonly right?: string;
}

/** The entries of the reference that comes with the package, by code. */
export function diagnosticEntries(): ReadonlyMap<string, DiagnosticEntry> {
  const text = readFileSync(packageFile('docs/reference/diagnostics.md'), 'utf8');
  const entries = new Map<string, DiagnosticEntry>();
  // A heading inside an example would be indented or in a block; none begins a line with `### RS`.
  for (const section of text.split(/^(?=### RS\d{4}: )/m).slice(1)) {
    const entry = entryOf(section);
    if (entry !== undefined) entries.set(entry.code, entry);
  }
  return entries;
}

function entryOf(section: string): DiagnosticEntry | undefined {
  const [, code, title, rest = ''] = /^### (RS\d{4}): (.*)\n([^]*)$/.exec(section) ?? [];
  if (code === undefined || title === undefined) return undefined;
  // The heading of the next family may follow the last entry of one.
  const body = rest.split(/^## /m)[0] ?? '';
  const [wrong, right] = [...body.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, example = '']) => example);
  const meaning = (body.split(/^(?:Wrong|Right):$|^```/m)[0] ?? '').replace('_Warning._', '').trim();
  return {
    code,
    title,
    severity: body.includes('_Warning._') ? 'warning' : 'error',
    meaning,
    ...(wrong !== undefined && { wrong }),
    ...(right !== undefined && { right }),
  };
}
