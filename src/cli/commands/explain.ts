import { type Color, paint, wrap } from '../../common/index.js';
import { nearest } from '../../syntax/index.js';
import { type DiagnosticEntry, diagnosticEntries } from '../diagnostic-entry.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { type Io, wantsColor } from '../io.js';
import { columnsOf } from '../terminal-text.js';
import { printedJson } from '../text.js';

/** Says what the code of a diagnostic means, with a wrong and a right example. */
export function explain(given: string, { json }: { readonly json: boolean }, io: Io): ExitCode {
  const entries = diagnosticEntries();
  const code = /^\d{4}$/.test(given) ? `RS${given}` : given.toUpperCase();
  const entry = entries.get(code);
  if (entry === undefined) throw unknownCode(given, code, [...entries.keys()]);
  if (json) io.data(`${printedJson({ version: 1, ...entry })}\n`);
  else {
    const columns = Math.min(mostColumns, columnsOf(io, 'out') ?? mostColumns);
    io.out(entryText(entry, columns, wantsColor(io, io.outIsTerminal)));
  }
  return exitCodes.fine;
}

/** Longer lines are tiring to read. */
const mostColumns = 80;

function unknownCode(given: string, code: string, codes: readonly string[]): CommandFailure {
  const family = codes.filter((each) => each.startsWith(code.slice(0, 5)) && code.length >= 5);
  const near = nearest(code, codes);
  const some = [...new Set([...(near === undefined ? [] : [near]), ...family])].slice(0, 5);
  const remedy = some.length === 0 ? 'codes look like RS2013' : `the nearest are ${some.join(', ')}`;
  return new CommandFailure(exitCodes.notFound, `there is no diagnostic ${given}; ${remedy}`);
}

function entryText(
  { code, title, severity, meaning, wrong, right }: DiagnosticEntry,
  columns: number,
  inColor: boolean,
): string {
  const painted = (color: Color, text: string): string => paint(text, inColor ? color : undefined);
  const heading = `${painted(severity === 'error' ? 'red' : 'yellow', `${severity} ${code}`)}${painted('bold', `: ${plain(title)}`)}`;
  const example = (word: string, color: Color, text: string | undefined): string[] =>
    text === undefined ? [] : ['', painted(color, word), '', text.trimEnd().replace(/^(?=.)/gm, '    ')];
  const paragraphs = meaning
    .split(/\n{2,}/)
    .map((paragraph) => wrap(plain(paragraph.replace(/\s+/g, ' ').trim()), columns).join('\n'));
  return `${[heading, '', paragraphs.join('\n\n'), ...example('wrong', 'red', wrong), ...example('right', 'green', right)].join('\n')}\n`;
}

/** Markdown as a terminal shows it: links as their text. */
function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replace(/\*\*([^*]+)\*\*/g, '$1');
}
