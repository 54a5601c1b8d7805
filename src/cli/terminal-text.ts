import { oneLine, widthOf, wrap } from '../common/index.js';
import { type Io, wantsColor } from './io.js';

/** Columns of the terminal that stdout or stderr is; undefined where lines may be of any length. */
export function columnsOf(io: Io, stream: 'out' | 'err'): number | undefined {
  const isTerminal = stream === 'out' ? io.outIsTerminal : io.errIsTerminal;
  return isTerminal ? io.terminalSize().columns : undefined;
}

/** A text in lines that fit; all but the first are indented by so many columns. */
export function hanging(text: string, columns: number | undefined, indent: number): string {
  return columns === undefined ? text : wrap(text, columns, indent).join('\n');
}

/** How diagnostics are shown on a stream. */
export function renderOptions(io: Io, stream: 'out' | 'err'): { color: boolean; columns: number | undefined } {
  const isTerminal = stream === 'out' ? io.outIsTerminal : io.errIsTerminal;
  return { color: wantsColor(io, isTerminal), columns: columnsOf(io, stream) };
}

/** Says something on stderr, in a line of its own. */
export function say(io: Io, text: string): void {
  io.err(`${hanging(oneLine(text), columnsOf(io, 'err'), 2)}\n`);
}

/** Commands below what they are proposed for, on stderr. */
export function propose(io: Io, commands: readonly string[]): void {
  for (const command of commands) {
    for (const line of commandLines(command, columnsOf(io, 'err'))) io.err(`${line}\n`);
  }
}

/** Commands are there to be copied: none is cut, and a shell takes one that is broken by a backslash between words. */
export function commandLines(command: string, columns: number | undefined, indent = 2): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent - 1);
  for (const word of command.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? []) {
    if (line.trim() !== '' && columns !== undefined && widthOf(`${line} ${word} \\`) > columns) {
      lines.push(`${line} \\`);
      line = ' '.repeat(indent + 1);
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
