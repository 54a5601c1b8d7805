import { enumerated } from '../definition/index.js';
import type { Diagnostic, DiagnosticCode, Source } from '../syntax/index.js';

/*
 * One mistake is one diagnostic: what the checks find each by itself may come of one slip.
 */

/** Of each first one: what else is said of the same words, and would not be if that were mended. */
const consequences: readonly (readonly [of: readonly DiagnosticCode[], said: readonly DiagnosticCode[]])[] = [
  // The type of a text that was meant to be a formula (`total: $steps.total`) says nothing about what was meant.
  [['RS2025', 'RS2026'], ['RS5003']],
  // A field that is not there need not be suspected of being none.
  [['RS4006', 'RS4030'], ['RS3006']],
  // Of a formula that is mended otherwise it is not known whether it always says the same.
  [
    ['RS3001', 'RS3002', 'RS3003', 'RS3004'],
    ['RS4014', 'RS4016', 'RS1030'],
  ],
  // The type of a date without quotes, which is a sum.
  [['RS3001'], ['RS3010', 'RS3011', 'RS3013', 'RS3017', 'RS5003']],
  // A step or field that has a default, though not in the place where it is needed.
  [['RS3020'], ['RS4011', 'RS4032']],
];

/** What is left of some diagnostics when those are taken away that only follow from another one of them, or of those `beside`. */
export function withoutConsequences(found: readonly Diagnostic[], beside: readonly Diagnostic[]): Diagnostic[] {
  const rules = consequences.flatMap(([of, said]) => {
    const causes = [...beside, ...found].filter(({ code }) => of.includes(code));
    return causes.map(({ range }) => ({ range, said }));
  });
  if (rules.length === 0) return [...found];
  return found.filter(
    ({ code, range }) =>
      !rules.some((rule) => rule.said.includes(code) && range.start < rule.range.end && rule.range.start < range.end),
  );
}

/** A comment that cuts a formula off is a warning to the reader of YAML, but an error where the rest does not compile. */
export function isSaidAgain(warning: Diagnostic, found: readonly Diagnostic[]): boolean {
  return found.some(({ code, range }) => code === warning.code && range.start === warning.range.start);
}

/** Of names that a flow declares once and uses in many places. */
const ofDeclared: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  'RS4001',
  'RS4002',
  'RS4006',
  'RS4007',
  'RS4008',
  'RS4022',
  'RS4023',
]);

/** Where a declaration is missing or misspelt, that is one mistake. A variable of the language is none that it declares. */
function isOfDeclared({ code, help }: Diagnostic): boolean {
  return ofDeclared.has(code) || (code === 'RS3002' && help.startsWith('did you mean'));
}

/** Says of a name that is not declared only where it is used first, and there where else it is used. */
export function oncePerName(diagnostics: readonly Diagnostic[], source: Source): Diagnostic[] {
  const uses = new Map<string, Diagnostic[]>();
  const keyOf = ({ code, severity, message, help }: Diagnostic): string => [code, severity, message, help].join('\n');
  for (const each of diagnostics) {
    if (!isOfDeclared(each)) continue;
    const same = uses.get(keyOf(each));
    if (same === undefined) uses.set(keyOf(each), [each]);
    else same.push(each);
  }
  return diagnostics.flatMap((each) => {
    const [first = each, ...others] = uses.get(keyOf(each)) ?? [];
    if (others.length === 0) return [each];
    return first === each ? [{ ...each, message: `${each.message}${alsoIn(each, others, source)}` }] : [];
  });
}

function alsoIn({ range }: Diagnostic, others: readonly Diagnostic[], source: Source): string {
  const own = source.position(range.start).line;
  const lines = [...new Set(others.map((each) => source.position(each.range.start).line))].filter(
    (line) => line !== own,
  );
  if (lines.length === 0) return ' (used again in this line)';
  return ` (used again in ${lines.length === 1 ? 'line' : 'lines'} ${enumerated(lines.map(String), 'and')})`;
}
