import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/common/index.js';
import { TerminalScreen } from './live/terminal-screen.js';
import { type CommandResult, type CommandSurroundings, Project } from './project.js';

/** What differs around a command that people call; the first one is what scripts and logs see. */
const surroundings: readonly (readonly [string, CommandSurroundings])[] = [
  ['not a terminal', {}],
  ['a terminal', { isTerminal: true, env: { TERM: 'xterm-256color' } }],
  ['a terminal, NO_COLOR', { isTerminal: true, env: { TERM: 'xterm-256color', NO_COLOR: '1' } }],
  [
    'a terminal, 60 columns',
    { isTerminal: true, env: { TERM: 'xterm-256color', NO_COLOR: '1' }, size: { columns: 60, rows: 24 } },
  ],
];

export interface Shell {
  readonly project: Project;
  /** Types a line, and shows what came of it. */
  type(line: string, surroundings?: CommandSurroundings): Promise<CommandResult>;
  /** The same without showing it. */
  before(line: string, surroundings?: CommandSurroundings): Promise<CommandResult>;
  /** Lets time go by. */
  pass(ms: number): void;
  /** Puts a database into the project that lines typed once have made, and the time to when they were over. */
  stored(lines: readonly string[]): Promise<void>;
}

/**
 * What people see who type the lines of a session, in all surroundings, each in a project of its own; of all but the
 * first only what differs. Lines of stderr are marked with `2>`, colours are shown by their names.
 */
export async function transcript(
  files: Readonly<Record<string, string>>,
  session: (shell: Shell) => Promise<void>,
): Promise<string> {
  let first: readonly string[] | undefined;
  const parts: string[] = [];
  for (const [name, around] of surroundings) {
    const shown = await play(files, session, around);
    const news = first === undefined ? shown : shown.filter((text, index) => text !== first?.[index]);
    first ??= shown;
    parts.push(`# ${name}\n\n${news.length === 0 ? '(the same)\n' : news.join('\n')}`);
  }
  return parts.join('\n\n');
}

async function play(
  files: Readonly<Record<string, string>>,
  session: (shell: Shell) => Promise<void>,
  around: CommandSurroundings,
): Promise<string[]> {
  const project = new Project(files);
  const clock = new StandingClock();
  const ids = new Map<string, string>();
  const shown: string[] = [];
  const call: Shell['type'] = (line, special = {}) => {
    clock.pass(60_000);
    const [, ...args] = words(line).map((word) => idBehind(word, ids));
    return project.runsheet(args, { ...around, clock, ...special, env: { ...around.env, ...special.env } });
  };
  const before = process.cwd();
  process.chdir(project.folder);
  const shell: Shell = {
    project,
    pass: (ms) => clock.pass(ms),
    async stored(lines) {
      const { files: database, now } = await madeBy(files, lines);
      for (const [path, bytes] of database) project.write(path, bytes);
      clock.pass(Math.max(0, now - clock.now()));
    },
    before: call,
    async type(line, special = {}) {
      const result = await call(line, special);
      const screen = lastScreen(result.err, special.size ?? around.size ?? { columns: 80 });
      const err = lasting(screen, project, ids).replace(/^(?=.)/gm, '2> ');
      shown.push(`$ ${line}\n${lasting(result.out, project, ids)}${err}exit ${result.code}\n`);
      return result;
    },
  };
  try {
    await session(shell);
    return shown;
  } finally {
    process.chdir(before);
  }
}

interface Made {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly now: number;
}

const made = new Map<string, Promise<Made>>();

function madeBy(files: Readonly<Record<string, string>>, lines: readonly string[]): Promise<Made> {
  const key = lines.join('\n');
  const known = made.get(key) ?? make(files, lines);
  made.set(key, known);
  return known;
}

async function make(files: Readonly<Record<string, string>>, lines: readonly string[]): Promise<Made> {
  const project = new Project(files);
  const clock = new StandingClock();
  for (const line of lines) {
    clock.pass(60_000);
    await project.runsheet(words(line).slice(1), { clock });
  }
  const folder = '.runsheet';
  const names = readdirSync(project.path(folder), { withFileTypes: true }).filter((entry) => entry.isFile());
  const read = names.map(({ name }): [string, Uint8Array] => {
    const path = `${folder}/${name}`;
    return [path, readFileSync(project.path(path))];
  });
  return { files: new Map(read), now: clock.now() };
}

/** Time that stands still while a command runs, so that all of its times are known; its timers go off all the same. */
class StandingClock implements Clock {
  #now = Date.UTC(2030, 0, 1, 9);
  readonly monotonic = systemClock.monotonic;
  readonly setTimer = systemClock.setTimer;

  now(): number {
    return this.#now;
  }

  pass(ms: number): void {
    this.#now += ms;
  }
}

/** Words as a shell sees them. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** The runs of a session have ids in order, as long as the real ones; folders are those that the user sees. */
function lasting(text: string, { folder }: Project, ids: Map<string, string>): string {
  return (
    colorNames(text)
      .replaceAll(`${folder}/`, '')
      .replaceAll(folder, '/home/ada/shop')
      // How long tests take, and what a database weighs, is not the same each time.
      .replace(/\((?:\d+(?:\.\d+)?m?s)+\)/g, '(<time>)')
      .replace(/, version \d+, \d+(?:\.\d)? KB,/g, ', version 1, 108 KB,')
      .replace(/has version \d+,/g, 'has version 1,')
      .replace(/^(.*Node: v|.*SQLite: |.*Runsheet: )[\d.]+$/gm, '$1<version>')
      .replace(/wf_(?:[0-9a-f]{32}|[0-9a-f]{8})(?![0-9a-f])/g, (id) => numbered(id, ids))
  );
}

/** A run by its number, however much of its id is shown. */
function numbered(id: string, ids: Map<string, string>): string {
  const [shown] = [...ids.keys()].filter((each) => each.startsWith(id) || id.startsWith(each));
  const known = ids.get(shown ?? '') ?? `wf_${String(ids.size + 1).padStart(32, '0')}`;
  if (shown !== undefined && shown.length < id.length) ids.delete(shown);
  if (shown === undefined || shown.length < id.length) ids.set(id, known);
  return `wf_${known.slice(3 - id.length)}`;
}

/** What a live view leaves on the screen in the end; its colours are shown elsewhere. */
function lastScreen(text: string, { columns }: { readonly columns: number }): string {
  if (!text.includes('\u001b[?25l')) return text;
  const screen = new TerminalScreen(columns);
  screen.write(text);
  return screen.text;
}

function idBehind(word: string, ids: ReadonlyMap<string, string>): string {
  const short = /^wf_(\d+)$/.exec(word)?.[1];
  if (short === undefined) return word;
  const [id] = [...ids].find(([, known]) => Number(known.slice(3)) === Number(short)) ?? [];
  expect(id, `the run ${word} was shown`).toBeDefined();
  return id ?? word;
}

const names: Readonly<Record<string, string>> = {
  0: '/',
  1: 'bold',
  2: 'faint',
  31: 'red',
  32: 'green',
  33: 'yellow',
  35: 'magenta',
  36: 'cyan',
};

function colorNames(text: string): string {
  return text.replace(/\u001b\[(\d+)m/g, (_escape, code: string) => `⟨${names[code] ?? code}⟩`);
}
