import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { NonRetryableError } from 'runsheet';

const execute = promisify(execFile);

export interface CommandOptions {
  /** Folder to run in. */
  readonly cwd: string;
  /** Ends the program with SIGTERM when it aborts. */
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that ended with another code than 0. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly details: { readonly command: string; readonly exitCode: number | null; readonly stderr: string };

  constructor(command: string, exitCode: number | null, stderr: string, cause: unknown) {
    super(`${command} ended with code ${exitCode}: ${stderr.split('\n', 1)[0] ?? ''}`, { cause });
    this.details = { command, exitCode, stderr: stderr.slice(0, 4_000) };
  }
}

/**
 * Runs a program without a shell, so that no argument is ever read as a command, and gives what it
 * wrote to stdout.
 *
 * @throws NonRetryableError CommandMissing if there is no such program
 * @throws CommandFailed if it ends with another code than 0
 */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { cwd, signal, env } = options;
  try {
    // Messages in English, whatever the machine speaks: some are recognised.
    const { stdout } = await execute(command, args, {
      cwd,
      signal,
      env: { ...process.env, LC_ALL: 'C', ...env },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr } = error as { code?: unknown; stderr?: unknown };
    if (code === 'ENOENT') {
      throw new NonRetryableError(`cannot run ${command} in ${cwd}: no such program or folder`, {
        name: 'CommandMissing',
        cause: error,
      });
    }
    throw new CommandFailed(
      [command, ...args].join(' '),
      typeof code === 'number' ? code : null,
      String(stderr ?? ''),
      error,
    );
  }
}
