import type { Command } from 'commander';
import type { CommandGroup } from './command-group.js';
import { addEndedStatuses, addNames, wholeNumber } from './option-values.js';
import { sharedOptions } from './shared-options.js';

/** The commands for those who look after many runs: workers, recovery, schedules, retention. */
export const addOperationCommands: CommandGroup = (command, io, done) => {
  command('worker', 'drive runs, and start those that schedules say, until stopped')
    .option('--concurrency <n>', 'runs driven at once (default: 5)', wholeNumber(1))
    .option('--workflows <names>', 'only these, separated by commas, and the children they start', addNames)
    .option('--adopt-stored', 'go on with runs whose flow is no longer there, from what is stored with them', false)
    .option('--json', 'print an object per line for all that happens', false)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (_options, self: Command) => {
      const { worker } = await import('./commands/worker.js');
      done(await worker(self.optsWithGlobals(), io));
    });

  command('recover', 'take over what died, and tell what nobody will drive')
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (options) => {
      const { recover } = await import('./commands/recover.js');
      done(await recover(options, io));
    });

  addScheduleCommands(command, io, done);

  command('cleanup', 'remove finished runs for good')
    .requiredOption('--older-than <duration>', 'that ended so long ago (7d), or longer')
    .option('--status <states>', 'only runs in these states, separated by commas', addEndedStatuses)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (options) => {
      const { cleanup } = await import('./commands/cleanup.js');
      done(await cleanup(options, io));
    });

  command('archive', 'put finished runs away: still shown, no longer listed')
    .requiredOption('--older-than <duration>', 'that ended so long ago (7d), or longer')
    .option('--status <states>', 'only runs in these states, separated by commas', addEndedStatuses)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (options) => {
      const { archive } = await import('./commands/archive.js');
      done(await archive(options, io));
    });
};

const addScheduleCommands: CommandGroup = (command, io, done) => {
  const load = () => import('./commands/schedules.js');
  const schedules = command('schedules', 'list schedules with their next times; pause, resume, trigger one')
    .option('--next <n>', 'so many next times of each', wholeNumber(1), 1)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (options) => done(await (await load()).schedules(options, io)));

  command('pause <workflow> <id>', 'have a schedule start nothing until it is resumed', schedules)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (workflow: string, id: string, _options, self: Command) => {
      done(await (await load()).pauseSchedule(workflow, id, self.optsWithGlobals(), io));
    });

  command('resume <workflow> <id>', 'let a schedule go on from its next time', schedules)
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (workflow: string, id: string, _options, self: Command) => {
      done(await (await load()).resumeSchedule(workflow, id, self.optsWithGlobals(), io));
    });

  command('trigger <workflow> <id>', 'start a run now, as the schedule would', schedules)
    .option('--json', 'print the run as JSON instead of its id', false)
    .option(...sharedOptions.database)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (workflow: string, id: string, _options, self: Command) => {
      done(await (await load()).triggerSchedule(workflow, id, self.optsWithGlobals(), io));
    });
};
