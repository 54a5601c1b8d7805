import { Command, CommanderError, Help, type Option } from 'commander';
import { addAuthorCommands } from './author-commands.js';
import type { CommandGroup, NewCommand } from './command-group.js';
import type { ProjectConfig } from './config.js';
import { addExamples } from './examples.js';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { harmlessOutput } from './harmless-output.js';
import { type Io, type Surroundings, processIo } from './io.js';
import { addOperationCommands } from './operation-commands.js';
import { oneLine } from '../common/index.js';
import { packageVersion } from './package-files.js';
import { addProjectCommands } from './project-commands.js';
import { addRunCommands } from './run-commands.js';
import { untrustedBy } from './trust.js';

export { endOnFault } from './process-faults.js';

/**
 * The command line. Answers with the exit code; nothing but commander is loaded before a command needs it, so that
 * `runsheet --version` starts at once.
 */
export async function main(argv: readonly string[], outer: Surroundings = processIo): Promise<number> {
  let exitCode: ExitCode = exitCodes.fine;
  const program = newProgram(outer, (code) => (exitCode = code));
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isAnswer(error) ? exitCodes.fine : exitCodes.usage;
    const { reportFailure } = await import('./failure.js');
    return reportFailure(error, { verbose: argv.includes('--verbose') }, harmlessOutput(outer));
  }
}

/** Help and version are asked for; everything else commander complains about. */
function isAnswer({ code }: CommanderError): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.version';
}

/** What commands have only if the config of the project says something about them. */
const configured = ['db', 'handlers', 'definitions'];

/** That a flag is off unless it is given goes without saying. */
function describeOption(option: Option): string {
  return option.defaultValue === false ? option.description : new Help().optionDescription(option);
}

/** What commander complains about, as the other messages are written, in a line; what it proposes in another. */
function inOurWords(text: string): string {
  const [, complaint = text, proposal = ''] = /^([^]*?)(\n\(Did you mean [^\n]*)?\n?$/.exec(text) ?? [];
  return `${oneLine(complaint)
    .replace(/command-argument value '(.*)' is invalid for argument '(\w+)'\./, "'$1' is no $2;")
    .replace(/option '(.*)' argument '(.*)' is invalid\./, "$1 cannot be '$2';")
    .replace(
      /too many arguments for '(.*)'\. Expected (\d+) arguments? but got (\d+)\./,
      (_text, name: string, most: string, given: string) =>
        `${name} takes ${most === '0' ? 'no' : most} argument${most === '0' || most === '1' ? '' : 's'}, and was given ${given}`,
    )
    .replace(/required option '(.*)' not specified/, 'missing option $1')
    .replace(/ Allowed choices are (.*)\.$/m, ' choose one of $1')}${proposal}\n`;
}

const untrustedOption = ['--untrusted', 'execute no code of the project'] as const;

/** Of help that goes to no terminal. */
const helpColumns = 80;

function newProgram(outer: Surroundings, done: (code: ExitCode) => void): Command {
  let project: ProjectConfig | undefined;
  let untrusted = untrustedBy(undefined, outer.env);
  const io: Io = {
    ...harmlessOutput(outer),
    get project() {
      return project;
    },
    get untrusted() {
      return untrusted;
    },
  };
  const program = new Command('runsheet')
    .description('A durable workflow engine whose flows are YAML documents.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--verbose', 'show stack traces of errors')
    .option(...untrustedOption)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: (text, write) => write(inOurWords(text)),
      getOutHelpWidth: () => (io.outIsTerminal ? io.terminalSize().columns : helpColumns),
      getErrHelpWidth: () => (io.errIsTerminal ? io.terminalSize().columns : helpColumns),
    })
    .configureHelp({ optionDescription: describeOption, minWidthToWrap: 20 })
    .showHelpAfterError('(--help shows what there is)');

  const command: NewCommand = (synopsis, description, parent = program) =>
    parent
      .command(synopsis)
      .description(description)
      .helpOption('-h, --help', 'print this help')
      .option('--config <file>', 'the config of the project (default: runsheet.config.*, here or above)')
      .option(...untrustedOption)
      .option('--verbose', 'show stack traces of errors');

  program.hook('preAction', async (_program, action) => {
    untrusted = untrustedBy(action.optsWithGlobals<{ untrusted?: boolean }>().untrusted, outer.env);
    if (!action.options.some((option) => configured.includes(option.attributeName()))) return;
    const { findConfig } = await import('./settings.js');
    project = await findConfig(action.optsWithGlobals<{ config?: string }>().config, io);
    if (project?.isSkipped !== true) return;
    const { say } = await import('./terminal-text.js');
    say(io, `note: ${untrusted} executes no code of the project, so ${project.name} was left out`);
  });

  const groups: readonly CommandGroup[] = [addAuthorCommands, addRunCommands, addOperationCommands, addProjectCommands];
  for (const add of groups) add(command, io, done);
  addExamples(program);

  return program;
}
