import { isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../common/index.js';
import type { ProjectConfig } from './settings.js';

/** Ctrl-C, or what process managers send to end a process. */
export type Interruption = 'SIGINT' | 'SIGTERM';

/** All that a command has to do with the process around it, so that tests can stand in for one. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The config of the project that a command works in; absent where there is none. */
  readonly project?: ProjectConfig | undefined;
  /** Data. */
  out(text: string): void;
  /** Progress and diagnostics. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readStdin(): Promise<string>;
  /** Calls `listener` at each Ctrl-C or SIGTERM instead of ending the process. Returns how to end that. */
  onInterrupt(listener: (signal: Interruption) => void): () => void;
  /** Ends the process at once, whatever it is doing. */
  exit(code: number): void;
}

export const processIo: Io = {
  cwd: process.cwd(),
  env: process.env,
  clock: systemClock,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  outIsTerminal: process.stdout.isTTY === true,
  errIsTerminal: process.stderr.isTTY === true,
  readStdin: () => text(process.stdin),
  onInterrupt(listener) {
    const listen = (signal: string): void => listener(signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
    process.on('SIGINT', listen).on('SIGTERM', listen);
    return () => void process.off('SIGINT', listen).off('SIGTERM', listen);
  },
  exit: (code) => process.exit(code),
};

/** A path as the user gave it, seen from the working directory. */
export function pathOf(io: Io, path: string): string {
  return isAbsolute(path) || io.cwd === process.cwd() ? path : join(io.cwd, path);
}

/** Whether to colour what goes to a stream; `NO_COLOR` wins over `FORCE_COLOR`, that over what the stream is. */
export function wantsColor(io: Io, isTerminal: boolean): boolean {
  if ((io.env.NO_COLOR ?? '') !== '') return false;
  if ((io.env.FORCE_COLOR ?? '') !== '') return io.env.FORCE_COLOR !== '0';
  return isTerminal && io.env.TERM !== 'dumb';
}
