import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { main } from '../../src/cli/index.js';
import type { Interruption, Surroundings } from '../../src/cli/io.js';
import { type Clock, systemClock } from '../../src/common/index.js';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CommandSurroundings {
  /** Inside the project. */
  readonly folder?: string;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  readonly clock?: Clock;
  readonly size?: { readonly columns: number; readonly rows: number };
  /** Called with all of stderr so far, whenever there is more; `interrupt` is a Ctrl-C. */
  readonly onProgress?: (err: string, interrupt: (signal?: Interruption) => void) => void;
  /** The same of stdout. */
  readonly onOutput?: (out: string, interrupt: (signal?: Interruption) => void) => void;
}

/** A folder with files, and the command line run in it, in this process. Gone when the test has ended. */
export class Project {
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), 'runsheet-cli-'));

  constructor(files: Readonly<Record<string, string>> = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    // The packages that handlers import, where `npm install` would have put them.
    if (Object.values(files).some((text) => text.includes("from 'zod'"))) this.installPackages();
  }

  installPackages(): void {
    if (this.exists('node_modules')) return;
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), this.path('node_modules'));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  exists(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** The command line run in a folder of the project. */
  in(folder: string): Pick<Project, 'runsheet'> {
    return {
      runsheet: (args, surroundings) => this.runsheet(args, { ...surroundings, folder }),
    };
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  async runsheet(args: readonly string[], surroundings: CommandSurroundings = {}): Promise<CommandResult> {
    const size = surroundings.size ?? { columns: 80, rows: 24 };
    const {
      folder = '',
      stdin = '',
      env = {},
      isTerminal = false,
      clock = systemClock,
      onProgress,
      onOutput,
    } = surroundings;
    const interrupts = new Set<(signal: Interruption) => void>();
    let out = '';
    let err = '';
    let exited: number | undefined;
    const interrupt = (signal: Interruption = 'SIGINT'): void => interrupts.forEach((listener) => listener(signal));
    const io: Surroundings = {
      cwd: this.path(folder),
      env,
      clock,
      out: (text) => {
        out += text;
        onOutput?.(out, interrupt);
      },
      err: (text) => {
        err += text;
        onProgress?.(err, interrupt);
      },
      outIsTerminal: isTerminal,
      errIsTerminal: isTerminal,
      terminalSize: () => size,
      divertOutput: () => () => {},
      onExit: () => () => {},
      onOutputLost: () => () => {},
      readStdin: () => Promise.resolve(stdin),
      onInterrupt: (listener) => {
        interrupts.add(listener);
        return () => void interrupts.delete(listener);
      },
      exit: (code) => void (exited = code),
    };
    const code = await main(['node', 'runsheet', ...args], io);
    return { code: exited ?? code, out, err };
  }
}

/** Without what is new each time: ids, times, durations. */
export function timeless(text: string): string {
  const ids = new Map<string, string>();
  return text
    .replace(/wf_[0-9a-f]{32}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `wf_${ids.size + 1}`);
      return ids.get(id) ?? '';
    })
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '<time>')
    .replace(/\((\w+) left\)/g, '(<time> left)')
    .replace(/^[\d:.]{12} {2}/gm, '')
    .replace(/ {2,}[\d.]+m?s$/gm, '')
    .replace(/after [\d.]+m?s/g, 'after <time>')
    .replace(/(STARTED|<time>) +TOOK$/gm, '$1');
}

/** A handlers module whose handlers note each call in `calls.txt`. */
export const notingHandlers = `
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineHandler, NonRetryableError } from 'runsheet';

const folder = join(import.meta.dirname ?? __dirname, '..');
const note = (text: string): void => appendFileSync(join(folder, 'calls.txt'), text + '\\n');

export default [
  defineHandler({
    name: 'note',
    description: 'Notes a text and gives it back.',
    run({ input, idempotencyKey }) {
      note((input as { text: string }).text + ' ' + idempotencyKey);
      return input;
    },
  }),
  defineHandler({
    name: 'refuse',
    errors: ['Refused'],
    run() {
      throw new NonRetryableError('not today', { name: 'Refused' });
    },
  }),
  defineHandler({
    name: 'fail',
    run() {
      throw new Error('not yet');
    },
  }),
  defineHandler({
    name: 'unless-mended',
    run({ idempotencyKey }) {
      if (!existsSync(join(folder, 'mended'))) throw new Error('broken');
      note('mended ' + idempotencyKey);
      return 'mended';
    },
  }),
  defineHandler({
    name: 'hold',
    async run({ idempotencyKey }) {
      note('hold ' + idempotencyKey);
      if (process.env.VITEST === undefined) console.error('holding');
      while (!existsSync(join(folder, 'go'))) await new Promise((resolve) => setTimeout(resolve, 5));
      return 'held';
    },
  }),
];
`;
