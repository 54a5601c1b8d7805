import { isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, systemClock } from '../common/index.js';
import type { ProjectConfig } from './config.js';

/** Ctrl-C, or what process managers send to end a process. */
export type Interruption = 'SIGINT' | 'SIGTERM';

/** All that a command has to do with the process around it, so that tests can stand in for one. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** What is written on stdout, as it is. */
  out(text: string): void;
  /** What is written on stderr, as it is. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Of the terminal that stderr, or else stdout, is. */
  terminalSize(): { readonly columns: number; readonly rows: number };
  readStdin(): Promise<string>;
  /** Hands to `write` what others (handlers, libraries) write on the terminal, instead. Returns how to end that. */
  divertOutput(write: (text: string) => void): () => void;
  /** Calls `listener` when the process ends, however it does, unless it is killed. Returns how to end that. */
  onExit(listener: () => void): () => void;
  /** Calls `listener` at each Ctrl-C or SIGTERM instead of ending the process. Returns how to end that. */
  onInterrupt(listener: (signal: Interruption) => void): () => void;
  /**
   * Calls `listener`, instead of ending the process, when stdout can take nothing more: its reader is gone, the disk is
   * full. Returns how to end that.
   */
  onOutputLost(listener: (error: Error) => void): () => void;
  /** Ends the process at once, whatever it is doing. */
  exit(code: number): void;
}

/** The same for a command, which can write only what steers nobody. */
export interface Io extends Surroundings {
  /** The config of the project that a command works in; absent where there is none. */
  readonly project?: ProjectConfig | undefined;
  /** What forbids executing code of the project, as messages name it; undefined where it is trusted. */
  readonly untrusted?: string | undefined;
  /** Results for people, on stdout. */
  out(text: string): void;
  /** Progress and diagnostics for people, on stderr. */
  err(text: string): void;
  /** What is written in a format (JSON, XML, a drawing) that makes texts harmless in its own way, on stdout. */
  data(text: string): void;
  /** What moves the cursor of the terminal that stderr is. */
  draw(text: string): void;
}

const writeOut = process.stdout.write.bind(process.stdout);
const writeErr = process.stderr.write.bind(process.stderr);

export const processIo: Surroundings = {
  cwd: process.cwd(),
  env: process.env,
  clock: systemClock,
  out: (text) => void writeOut(text),
  err: (text) => void writeErr(text),
  outIsTerminal: process.stdout.isTTY === true,
  errIsTerminal: process.stderr.isTTY === true,
  terminalSize: () => ({
    columns: process.stderr.columns || process.stdout.columns || 80,
    rows: process.stderr.rows || process.stdout.rows || 24,
  }),
  readStdin: () => text(process.stdin),
  divertOutput(write) {
    const diverted = [process.stdout, process.stderr].filter(({ isTTY }) => isTTY);
    for (const stream of diverted) stream.write = divertedWrite(write);
    return () => {
      if (diverted.includes(process.stdout)) process.stdout.write = writeOut;
      if (diverted.includes(process.stderr)) process.stderr.write = writeErr;
    };
  },
  onExit(listener) {
    process.on('exit', listener);
    return () => void process.off('exit', listener);
  },
  onInterrupt(listener) {
    const listen = (signal: string): void => listener(signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT');
    process.on('SIGINT', listen).on('SIGTERM', listen);
    return () => void process.off('SIGINT', listen).off('SIGTERM', listen);
  },
  onOutputLost(listener) {
    process.on(outputLost, listener);
    return () => void process.off(outputLost, listener);
  },
  exit: (code) => process.exit(code),
};

/** `bin/runsheet.js` tells it by this event. */
const outputLost = 'runsheet:output-lost';

function divertedWrite(write: (text: string) => void): typeof process.stdout.write {
  return (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined;
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
}

/** A path as the user gave it, seen from the working directory. */
export function pathOf(io: Io, path: string): string {
  return isAbsolute(path) || io.cwd === process.cwd() ? path : join(io.cwd, path);
}

/** Whether to colour what goes to a stream; `NO_COLOR` wins over `FORCE_COLOR`, that over what the stream is. */
export function wantsColor(io: Pick<Io, 'env'>, isTerminal: boolean): boolean {
  if ((io.env.NO_COLOR ?? '') !== '') return false;
  if ((io.env.FORCE_COLOR ?? '') !== '') return io.env.FORCE_COLOR !== '0';
  return isTerminal && io.env.TERM !== 'dumb';
}
