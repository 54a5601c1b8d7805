import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { builtCommand } from './built-command.js';
import type { CommandResult, Project } from './project.js';

/** The surroundings of a shell in which `runsheet` is the built command. */
export function withRunsheet(project: Project): { cwd: string; env: NodeJS.ProcessEnv } {
  project.write('bin/runsheet', `#!/bin/sh\nexec ${process.execPath} ${builtCommand()} "$@"\n`);
  chmodSync(project.path('bin/runsheet'), 0o755);
  return { cwd: project.folder, env: { ...process.env, PATH: `${project.path('bin')}:${process.env.PATH}` } };
}

/** What a command line gives that somebody types, or copies from what another command has printed. */
export function typed(project: Project, commandLine: string): CommandResult {
  const options = { ...withRunsheet(project), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', commandLine], options);
  return { code: status ?? -1, out: stdout, err: stderr };
}
