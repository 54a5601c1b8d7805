import type { Command } from 'commander';
import { completionOf } from '../completion/candidates.js';
import { type Shell, completionScripts } from '../completion/scripts.js';
import { projectValues } from '../completion/values.js';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { oneLine } from '../text.js';

/** Prints what a shell reads to complete the commands. */
export async function completion(shell: Shell, io: Io): Promise<ExitCode> {
  io.data(completionScripts[shell]);
  return exitCodes.fine;
}

/** Answers a shell: what could stand in place of the last of the words typed so far. */
export async function complete(program: Command, words: readonly string[], io: Io): Promise<ExitCode> {
  const { candidates, files } = await completionOf(program, joined(words), projectValues(io));
  for (const { value, description } of candidates)
    io.out(`${value}\t${oneLine(description.replaceAll(/\s+/g, ' '))}\n`);
  if (files) io.data(':files\n');
  return exitCodes.fine;
}

/** bash hands over `--format=json` in three words. */
function joined(words: readonly string[]): string[] {
  const result: string[] = [];
  for (const word of words) {
    const before = result.at(-1);
    if (before !== undefined && /^--[\w-]+=?$/.test(before) && (word === '=' || before.endsWith('='))) {
      result[result.length - 1] = before + word;
    } else result.push(word);
  }
  return result;
}
