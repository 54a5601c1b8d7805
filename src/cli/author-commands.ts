import { Option } from 'commander';
import type { CommandGroup } from './command-group.js';
import type { FindingsFormat } from './formats/findings-text.js';
import { graphFormats } from './graph-formats.js';
import { nonEmpty, wholeNumber } from './option-values.js';
import { sharedOptions } from './shared-options.js';

/** The commands for those who write flows and handlers. */
export const addAuthorCommands: CommandGroup = (command, io, done) => {
  command('validate [paths...]', 'check flows and flow tests: files, folders, or - for stdin')
    .addOption(formatOption())
    .option('--json', 'the same as --format json')
    .option(...sharedOptions.handlers)
    .option('--no-handlers', 'do not load handlers, and check nothing about them')
    .option(...sharedOptions.definitions)
    .option('--max-warnings <n>', 'fail if there are more warnings than this', wholeNumber(0))
    .option('--stdin-filename <path>', 'the file whose text comes on stdin')
    .option('--watch', 'check again whenever something changes', false)
    .action(async (paths: string[], { json, ...options }) => {
      const { validate } = await import('./commands/validate.js');
      done(await validate(paths, { ...options, format: json === true ? 'json' : options.format }, io));
    });

  command('explain <code>', 'say what a diagnostic such as RS2013 means, with a wrong and a right example')
    .option(...sharedOptions.json)
    .action(async (code: string, options) => {
      const { explain } = await import('./commands/explain.js');
      done(explain(code, options, io));
    });

  command('test [targets...]', 'run flow tests: files, folders, or those of flows, given by path or name')
    .addOption(formatOption().choices(['human', 'json', 'junit']))
    .option('--json', 'the same as --format json')
    .option('--watch', 'run them again whenever something changes', false)
    .option('--filter <text>', 'only tests whose names hold this text')
    .option('--coverage', 'tell which places of the flows no test came to')
    .option('--coverage-min <percent>', 'fail if less of a flow is covered', wholeNumber(0))
    .option(...sharedOptions.handlers)
    .option('--no-handlers', 'do not load handlers: all that are called must be scripted')
    .option(...sharedOptions.definitions)
    .option('--from-run <run>', 'write a test that repeats a stored run, given by id or key, instead of running any')
    .option('--output <file>', 'where that is written (default: stdout)')
    .option(...sharedOptions.database)
    .action(async (targets: string[], { json, fromRun, output, db, ...options }) => {
      if (fromRun !== undefined) {
        const { testFromRun } = await import('./test-run/test-from-run.js');
        done(await testFromRun(fromRun, { output, db }, io));
        return;
      }
      const { test } = await import('./commands/test.js');
      done(await test(targets, { ...options, format: json === true ? 'json' : options.format }, io));
    });

  command('hash <path>', 'print the identity of a flow: sha256, name, revision')
    .option(...sharedOptions.json)
    .action(async (path: string, options) => {
      const { hash } = await import('./commands/hash.js');
      done(await hash(path, options, io));
    });

  command('diff <before> [after]', 'say what changed in meaning between two flows, and which runs that touches')
    .addHelpText('after', '\nWith one flow: from what its newest run is on. A flow is a file, or - for stdin.')
    .option(...sharedOptions.json)
    .option(...sharedOptions.database)
    .action(async (before: string, after: string | undefined, options) => {
      const { diff } = await import('./commands/diff.js');
      done(await diff(before, after, options, io));
    });

  command('graph <target>', 'draw a flow (path or name) or a run (id or key) as Mermaid, SVG or Graphviz')
    .addOption(
      new Option('--format <format>', 'default: what the name of the file says, else mermaid').choices(graphFormats),
    )
    .option('-o, --output <file>', 'write it there instead of on stdout')
    .option('--workflow <name>', 'whose key it is, where several workflows have it', nonEmpty)
    .option(...sharedOptions.database)
    .option(...sharedOptions.definitions)
    .action(async (target: string, options) => {
      const { graph } = await import('./commands/graph.js');
      done(await graph(target, options, io));
    });

  command('handlers [handlers...]', 'list the handlers, or some of them, and what they take, give and throw')
    .option('--json', 'print JSON, with the whole schemas', false)
    .option('--schema', 'print the JSON Schema of flows that call these handlers, for the editor', false)
    .option('--types', 'print types of the inputs of the flows, for the compiler', false)
    .option(...sharedOptions.handlers)
    .option(...sharedOptions.definitions)
    .action(async (names: string[], options) => {
      const { handlers } = await import('./commands/handlers.js');
      done(await handlers(names, options, io));
    });
};

// The list that goes with what prints them is not loaded before a command needs it.
const formats = ['human', 'json', 'sarif', 'github', 'junit'] satisfies FindingsFormat[];

function formatOption(): Option {
  return new Option('--format <format>', 'how to print what is found').choices(formats).default('human');
}
