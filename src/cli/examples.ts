import type { Command } from 'commander';

/** Two ways to call a command, below its help: an example says more than a list of options. */
export function withExamples(command: Command, first: Example, second: Example): Command {
  const width = Math.max(first.call.length, second.call.length);
  const lines = [first, second].map(({ call, does }) => `  $ runsheet ${call.padEnd(width)}  # ${does}\n`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('')}`.trimEnd());
}

export interface Example {
  /** Without the name of the program. */
  readonly call: string;
  readonly does: string;
}
