import {
  type Comment,
  type Diagnostic,
  type Source,
  byPlace,
  commentsOf,
  diagnosticCodes,
  nearest,
} from '../syntax/index.js';

/**
 * Takes away the warnings that a comment `# runsheet-ignore RS4010 -- why` tells to ignore, and reports comments that
 * ignore nothing. Errors stay, since no comment may make a flow fit for the engine.
 *
 * @param found all that was found in the file
 * @param knowsAll handlers and other workflows were looked at, so that every warning that there is was found
 */
export function applyIgnoreComments(source: Source, found: readonly Diagnostic[], knowsAll: boolean): Diagnostic[] {
  if (!source.text.includes(word)) return [...found];
  const isValid = !found.some(({ severity }) => severity === 'error');
  const ignored = new Set<Diagnostic>();
  const reports: Diagnostic[] = [];
  for (const comment of commentsOf(source)) {
    const names = namesIn(comment);
    if (names === undefined) continue;
    if (names.length === 0) reports.push(report(comment.range, 'this comment names no code to ignore', help));
    for (const { name, range } of names) {
      const meant = found.filter((each) => each.code === name && isOn(comment, source.position(each.range.start).line));
      for (const each of meant) if (each.severity === 'warning') ignored.add(each);
      if (meant.some(({ severity }) => severity === 'error')) {
        reports.push(report(range, `\`${name}\` is an error here, which no comment can ignore`, 'mend what it says'));
      } else if (!Object.hasOwn(diagnosticCodes, name)) {
        const near = nearest(name, Object.keys(diagnosticCodes));
        reports.push(
          report(range, `there is no code \`${name}\``, near === undefined ? help : `did you mean ${near}?`),
        );
      } else if (meant.length === 0 && isValid && (knowsAll || !/^RS[45]/.test(name))) {
        reports.push(report(range, `there is no ${name} to ignore on ${linesOf(comment)}`, 'remove it'));
      }
    }
  }
  return [...found.filter((each) => !ignored.has(each)), ...reports].sort(byPlace);
}

const word = 'runsheet-ignore';
const help = 'write `# runsheet-ignore RS4010 -- why`, with the codes of warnings';

/** What stands where a code should; undefined for a comment about something else. */
function namesIn({ text, range }: Comment): { name: string; range: Diagnostic['range'] }[] | undefined {
  const [, opening, codes = ''] = /^(#\s*runsheet-ignore(?![\w-]))(.*?)(?:\s--.*)?$/s.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const from = range.start + opening.length;
  return [...codes.matchAll(/[^\s,]+/g)].map(({ 0: name, index }) => ({
    name,
    range: { start: from + index, end: from + index + name.length },
  }));
}

function isOn({ lines }: Comment, line: number): boolean {
  return lines !== undefined && lines.first <= line && line <= lines.last;
}

function linesOf({ lines }: Comment): string {
  if (lines === undefined) return 'a line after it';
  return lines.first === lines.last ? `line ${lines.first}` : `lines ${lines.first} to ${lines.last}`;
}

function report(range: Diagnostic['range'], message: string, remedy: string): Diagnostic {
  return { code: 'RS1034', severity: 'warning', message, range, help: remedy };
}
