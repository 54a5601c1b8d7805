import { Argument } from 'commander';
import type { CommandGroup } from './command-group.js';
import { sharedOptions } from './shared-options.js';

/** The commands around a project and its installation: beginning one, looking after what it stands on. */
export const addProjectCommands: CommandGroup = (command, io, done) => {
  command(
    'init [directory]',
    'make a small working project: a flow, its handlers, its test, settings for editor and CI',
  ).action(async (directory: string | undefined) => {
    const { init } = await import('./commands/init.js');
    done(await init(directory ?? '.', io));
  });

  command('doctor', 'look at the installation, the project and the database, and say what to do about what is wrong')
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (options) => {
      const { doctor } = await import('./commands/doctor.js');
      done(await doctor(options, io));
    });

  command('migrate', 'bring the database to the version that this runsheet works with')
    .option('--check', 'only tell; fail if there is something to do', false)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (options) => {
      const { migrate } = await import('./commands/migrate.js');
      done(await migrate(options, io));
    });

  command('schema', 'print the JSON Schema of flows, or of flow tests')
    .addArgument(new Argument('[kind]', 'of what').choices(['workflow', 'flow-test']).default('workflow'))
    .option('--path', 'print where the file is, for an editor', false)
    .action(async (kind, options) => {
      const { schema } = await import('./commands/schema.js');
      done(await schema(kind, options, io));
    });

  const { parent: program } = command(
    'completion',
    'print the script that completes flows, runs and options in a shell',
  )
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => {
      const { completion } = await import('./commands/completion.js');
      done(await completion(shell, io));
    });

  program
    ?.command('complete [words...]', { hidden: true })
    .description('answer the script of a shell')
    .action(async (words: string[]) => {
      const { complete } = await import('./commands/completion.js');
      done(await complete(program, words, io));
    });
};
