import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { type Io, processIo } from './io.js';
import { addOperationCommands } from './operation-commands.js';
import { addStatuses, collect, wholeNumber } from './option-values.js';

export { endOnFault } from './process-faults.js';

/**
 * The command line. Answers with the exit code; nothing but commander is loaded before a command needs it, so that
 * `runsheet --version` starts at once.
 */
export async function main(argv: readonly string[], io: Io = processIo): Promise<number> {
  let exitCode: ExitCode = exitCodes.fine;
  const program = newProgram(io, (code) => (exitCode = code));
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isAnswer(error) ? exitCodes.fine : exitCodes.usage;
    const { reportFailure } = await import('./failure.js');
    return reportFailure(error, { verbose: argv.includes('--verbose') }, io);
  }
}

/** Help and version are asked for; everything else commander complains about. */
function isAnswer({ code }: CommanderError): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.version';
}

function newProgram(io: Io, done: (code: ExitCode) => void): Command {
  const program = new Command('runsheet')
    .description('A durable workflow engine whose flows are YAML documents.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--verbose', 'show stack traces of errors')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) })
    .showHelpAfterError('(--help shows what there is)');

  const command = (synopsis: string, description: string, parent = program): Command =>
    parent
      .command(synopsis)
      .description(description)
      .helpOption('-h, --help', 'print this help')
      .option('--verbose', 'show stack traces of errors');

  command('validate [paths...]', 'check flows: files, folders, or - for stdin')
    .addOption(formatOption())
    .option('--json', 'the same as --format json')
    .option('--handlers <path>', 'folder or file of the handlers (default: handlers)')
    .option('--no-handlers', 'do not load handlers, and check nothing about them')
    .option('--definitions <folder>', 'what is checked if no path is given', 'definitions')
    .option('--max-warnings <n>', 'fail if there are more warnings than this', wholeNumber(0))
    .action(async (paths: string[], { json, ...options }) => {
      const { validate } = await import('./commands/validate.js');
      done(await validate(paths, { ...options, format: json === true ? 'json' : options.format }, io));
    });

  command('hash <path>', 'print the identity of a flow: sha256, name, revision')
    .option('--json', 'print JSON', false)
    .action(async (path: string, options) => {
      const { hash } = await import('./commands/hash.js');
      done(await hash(path, options, io));
    });

  command('handlers', 'list the handlers and what they take, give and throw')
    .option('--json', 'print JSON, with the whole schemas', false)
    .option('--handlers <path>', 'folder or file of the handlers (default: handlers)')
    .action(async (options) => {
      const { handlers } = await import('./commands/handlers.js');
      done(await handlers(options, io));
    });

  command('run <flow>', 'start a run of a flow, given by path or name, and drive it to its end here')
    .option('--input <json>', 'its input: JSON, @file, or - for stdin (default: {})')
    .option('--key <key>', 'the same key is the same run: an unfinished one goes on, a finished one gives its output')
    .option('--continue <run>', 'go on with a run, by id or key, instead of starting one')
    .option('--signal <name=json>', 'deliver a signal right after the start: JSON, or @file (repeatable)', collect)
    .option('--no-wait', 'let the run go as soon as it waits for something')
    .option('--timeout <duration>', 'let the run go after so long')
    .option('--json', 'print the run as JSON instead of its output', false)
    .option('--db <path>', 'database of the runs (default: $RUNSHEET_DB, else .runsheet/runs.db)')
    .option('--handlers <path>', 'folder or file of the handlers (default: handlers)')
    .option('--definitions <folder>', 'where a name is looked for', 'definitions')
    .action(async (target: string, options) => {
      const { run } = await import('./commands/run.js');
      done(await run(target, options, io));
    });

  const tell = (synopsis: string, description: string, parent = program): Command =>
    command(synopsis, description, parent)
      .option('--workflow <name>', 'whose key it is, where several workflows have it')
      .option('--json', 'print the run as JSON', false)
      .option('--db <path>', 'database of the runs (default: $RUNSHEET_DB, else .runsheet/runs.db)');

  tell('signal <run> <name>', 'deliver a signal to a run, by id or key')
    .option('--data <json>', 'its payload: JSON, @file, or - for stdin (default: null)')
    .action(async (idOrKey: string, name: string, options) => {
      const { signal } = await import('./commands/signal.js');
      done(await signal(idOrKey, name, options, io));
    });

  tell('cancel <run>', 'end a run, by id or key, and undo what it has done')
    .option('--no-compensate', 'leave what it has done')
    .option('--reason <text>', 'why, for people')
    .action(async (idOrKey: string, options) => {
      const { cancel } = await import('./commands/cancel.js');
      done(await cancel(idOrKey, options, io));
    });

  tell('resume <run>', 'go on with a failed run as a new one, which keeps what had succeeded').action(
    async (idOrKey: string, options) => {
      const { resume } = await import('./commands/resume.js');
      done(await resume(idOrKey, options, io));
    },
  );

  const compensation = command('compensation', 'decide about a run whose undoing is stuck');
  tell('resume <run>', 'try again to undo what failed, then the rest', compensation).action(
    async (idOrKey: string, options) => {
      const { resumeCompensation } = await import('./commands/compensation.js');
      done(await resumeCompensation(idOrKey, options, io));
    },
  );
  tell('abandon <run>', 'leave as it is what is not undone, and end the run', compensation).action(
    async (idOrKey: string, options) => {
      const { abandonCompensation } = await import('./commands/compensation.js');
      done(await abandonCompensation(idOrKey, options, io));
    },
  );

  command('list', 'list runs, newest first')
    .option('--status <states>', 'only runs in these states, separated by commas', addStatuses)
    .option('--workflow <name>', 'only runs of this workflow')
    .option('--since <when>', 'only runs created since: a duration back (2h), or a time')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
    .option('--cursor <cursor>', 'go on where an earlier list ended')
    .option('--archived', 'those that were put away, instead of the others', false)
    .option('--json', 'print JSON', false)
    .option('--db <path>', 'database of the runs (default: $RUNSHEET_DB, else .runsheet/runs.db)')
    .action(async (options) => {
      const { list } = await import('./commands/list.js');
      done(await list(options, io));
    });

  command('show <run>', 'show a run, by id or key: its steps, what it waits for, the command that moves it on')
    .option('--workflow <name>', 'whose key it is, where several workflows have it')
    .option('--json', 'print JSON, nothing cut off', false)
    .option('--db <path>', 'database of the runs (default: $RUNSHEET_DB, else .runsheet/runs.db)')
    .action(async (idOrKey: string, options) => {
      const { show } = await import('./commands/show.js');
      done(await show(idOrKey, options, io));
    });

  addOperationCommands(command, io, done);

  return program;
}

function formatOption(): Option {
  return new Option('--format <format>', 'how to print what is found').choices(['human', 'json']).default('human');
}

function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
