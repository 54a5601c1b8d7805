import { escaped, printedJson } from '../common/index.js';
import type { Recovery, RunEvent } from '../engine/index.js';
import type { Io } from './io.js';
import type { LogLine } from './line-logger.js';
import type { Given } from './next-commands.js';
import { Progress } from './progress.js';
import { recoveryLines } from './recovery-text.js';
import { say } from './terminal-text.js';

export interface WorkerReport {
  recovered(recovery: Recovery): void;
  started(about: { readonly workflows: readonly string[]; readonly concurrency: number }): void;
  event(event: RunEvent): void;
  log(line: LogLine): void;
  stopping(): void;
  stopped(): void;
}

/** Lines for people, on stderr. */
export function humanReport(io: Io, given: Given): WorkerReport {
  const progress = new Progress(io);
  return {
    recovered: (recovery) => recoveryLines(recovery, given).forEach((line) => say(io, line)),
    started: ({ workflows, concurrency }) => {
      say(io, `driving ${workflows.join(', ')}; at most ${concurrency} at once; Ctrl-C stops`);
    },
    event: (event) => progress.tell(event),
    log: ({ level, message, fields }) => {
      const time = new Date(io.clock.now()).toISOString().slice(11, 23);
      const details = Object.keys(fields).length === 0 ? '' : `  ${safeJson(fields)}`;
      say(io, `${time}  ${level.padEnd(9)}  ${message}${details}`);
    },
    stopping: () => say(io, 'stopping once the running steps have ended; the same again stops at once'),
    stopped: () => say(io, 'stopped; what was not finished another worker goes on with'),
  };
}

/** An object per line, on stdout: the events of the runs as they are, and the worker's own. */
export function jsonReport(io: Io): WorkerReport {
  const tell = (type: string, fields: object = {}): void => {
    io.data(`${safeJson({ version: 1, type, at: io.clock.now(), ...fields })}\n`);
  };
  return {
    recovered: (recovery) => tell('worker:recovered', recovery),
    started: (about) => tell('worker:started', about),
    event: (event) => tell(event.type, event),
    log: (line) => tell('worker:log', line),
    stopping: () => tell('worker:stopping'),
    stopped: () => tell('worker:stopped'),
  };
}

/** Handlers log what they like, also what JSON cannot hold. */
function safeJson(value: object): string {
  try {
    return escaped(JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? String(each) : each)));
  } catch (error) {
    return printedJson({ version: 1, type: 'worker:log', level: 'warn', message: `not JSON: ${String(error)}` });
  }
}
