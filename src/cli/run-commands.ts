import type { Command } from 'commander';
import type { CommandGroup } from './command-group.js';
import { addStatuses, collect, nonEmpty, wholeNumber } from './option-values.js';
import { sharedOptions } from './shared-options.js';

/** The commands that start runs, look at them and tell them things. */
export const addRunCommands: CommandGroup = (command, io, done) => {
  command('run <flow>', 'start a run of a flow, given by path or name, and drive it to its end here')
    .option('--input <json>', 'its input: JSON, @file, or - for stdin (default: {})')
    .option(
      '--key <key>',
      'the same key is the same run: an unfinished one goes on, a finished one gives its output',
      nonEmpty,
    )
    .option('--continue <run>', 'go on with a run, by id or key, instead of starting one')
    .option('--signal <name=json>', 'deliver a signal right after the start: JSON, or @file (repeatable)', collect)
    .option('--no-wait', 'let the run go as soon as it waits for something')
    .option('--timeout <duration>', 'let the run go after so long')
    .option('--json', 'print the run as JSON instead of its output', false)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (target: string, options) => {
      const { run } = await import('./commands/run.js');
      done(await run(target, options, io));
    });

  command('start <flow>', 'put a run of a flow, given by path or name, into the database for a worker to drive')
    .option('--input <json>', 'its input: JSON, @file, or - for stdin (default: {})')
    .option('--key <key>', 'the same key is the same run', nonEmpty)
    .option('--at <when>', 'not before: a duration from now (2h), or a time')
    .option('--json', 'print the run as JSON instead of its id', false)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (target: string, options) => {
      const { start } = await import('./commands/start.js');
      done(await start(target, options, io));
    });

  command('list', 'list runs, newest first')
    .option('--status <states>', 'only runs in these states, separated by commas', addStatuses)
    .option('--workflow <name>', 'only runs of this workflow', nonEmpty)
    .option('--since <when>', 'only runs created since: a duration back (2h), or a time')
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
    .option('--cursor <cursor>', 'go on where an earlier list ended')
    .option('--archived', 'those that were put away, instead of the others', false)
    .option('--json', 'print JSON', false)
    .option(...sharedOptions.database)
    .action(async (options) => {
      const { list } = await import('./commands/list.js');
      done(await list(options, io));
    });

  command('show <run>', 'show a run, by id or key: its steps, what it waits for, the command that moves it on')
    .option('--full', 'cut off and fold nothing', false)
    .option('--workflow <name>', 'whose key it is, where several workflows have it', nonEmpty)
    .option('--json', 'print JSON, nothing cut off', false)
    .option(...sharedOptions.database)
    .action(async (idOrKey: string, options) => {
      const { show } = await import('./commands/show.js');
      done(await show(idOrKey, options, io));
    });

  command('logs <run>', 'tell what happened in a run, by id or key, a line for each entry of its journal')
    .option('-f, --follow', 'go on with what comes, until the run has ended', false)
    .option('--since <when>', 'only what happened since: a duration back (2h), or a time')
    .option('--workflow <name>', 'whose key it is, where several workflows have it', nonEmpty)
    .option('--json', 'print an object per line', false)
    .option(...sharedOptions.database)
    .action(async (idOrKey: string, options) => {
      const { logs } = await import('./commands/logs.js');
      done(await logs(idOrKey, options, io));
    });

  addTellCommands(command, io, done);
};

const addTellCommands: CommandGroup = (command, io, done) => {
  const tell = (synopsis: string, description: string, parent?: Command): Command =>
    command(synopsis, description, parent)
      .option('--workflow <name>', 'whose key it is, where several workflows have it', nonEmpty)
      .option('--json', 'print the run as JSON', false)
      .option(...sharedOptions.database);

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
};
