import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type { CommandResult, Project } from './project.js';

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandResult & { readonly signal: string | null }>;
  /** Stdout, and stderr, so far. */
  out(): string;
  err(): string;
  /** Resolves once stdout, or stderr, holds the text so many times; default 1. */
  printed(text: string, times?: number): Promise<void>;
  told(text: string, times?: number): Promise<void>;
}

/** Starts the built command, as a shell would. It does not outlive the test. */
export function startCommand(
  command: string,
  project: Project,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    for (const look of waiting) look();
  });
  const ended = new Promise<CommandResult & { signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code: code ?? -1, signal, out, err }));
  });
  const holds = (stream: () => string, text: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stream().split(text).length <= times) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`ended without ${JSON.stringify(text)}: ${out}${err}`)));
    });
  return {
    child,
    ended,
    out: () => out,
    err: () => err,
    printed: (text, times) => holds(() => out, text, times),
    told: (text, times) => holds(() => err, text, times),
  };
}
