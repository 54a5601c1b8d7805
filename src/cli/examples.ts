import type { Command } from 'commander';

export interface Example {
  /** Without the name of the program. */
  readonly call: string;
  readonly does: string;
}

/** Two ways to call each command, by its whole name: an example says more than a list of options. */
const examples: Readonly<Record<string, readonly [Example, Example]>> = {
  validate: [
    { call: 'validate', does: 'all flows and flow tests of the project' },
    { call: 'validate definitions/order.yaml --format json', does: 'one flow, for a program' },
  ],
  explain: [
    { call: 'explain RS2013', does: 'what it means, wrong and right' },
    { call: 'explain RS4001 --json', does: 'the same for a program' },
  ],
  test: [
    { call: 'test --coverage', does: 'all flow tests, and what none of them comes to' },
    { call: 'test definitions/order.test.yaml --filter rejected', does: 'some tests of one file' },
  ],
  hash: [
    { call: 'hash definitions/order.yaml', does: 'what runs of it are bound to' },
    { call: 'hash definitions/order.yaml --json', does: 'the same for a program' },
  ],
  diff: [
    { call: 'diff definitions/order.yaml', does: 'against what its newest run is on' },
    { call: 'diff order.v1.yaml order.yaml', does: 'between two files' },
  ],
  graph: [
    { call: 'graph order -o order.svg', does: 'a picture; .mmd is Mermaid, .dot is Graphviz' },
    { call: 'graph order-42', does: 'of the run with that key, by state' },
  ],
  handlers: [
    { call: 'handlers', does: 'what the flows can call' },
    { call: 'handlers --schema > .vscode/flows.schema.json', does: 'for completion in the editor' },
  ],
  run: [
    { call: 'run order --key order-42 --input \'{ "total": 40 }\'', does: 'start it, or go on with it' },
    { call: 'run order --continue order-42', does: 'go on with the run that has that key' },
  ],
  start: [
    { call: 'start order --key order-42 --input @order-42.json', does: 'for a worker to drive' },
    { call: 'start report --at 2h', does: 'in two hours' },
  ],
  list: [
    { call: 'list --status waiting,compensation-stuck', does: 'what waits for somebody' },
    { call: 'list --workflow order --since 7d --json', does: 'for a program' },
  ],
  show: [
    { call: 'show order-42', does: 'the run with that key' },
    { call: 'show order-42 --full', does: 'nothing cut off, each turn of its loops' },
  ],
  logs: [
    { call: 'logs order-42', does: 'what has happened so far' },
    { call: 'logs order-42 -f', does: 'and what happens from now on' },
  ],
  signal: [
    { call: 'signal order-42 approval --data \'{ "approved": true }\'', does: 'answer what it waits for' },
    { call: 'signal order-42 parcel-left', does: 'one without a payload' },
  ],
  cancel: [
    { call: 'cancel order-42 --reason "ordered twice"', does: 'end it, and undo what it did' },
    { call: 'cancel order-42 --no-compensate', does: 'end it, and leave what it did' },
  ],
  resume: [
    { call: 'resume order-42', does: 'once the cause of its failure is mended' },
    { call: 'resume order-42 --json', does: 'the new run, for a program' },
  ],
  'compensation resume': [
    { call: 'compensation resume order-42', does: 'once the cause is mended' },
    { call: 'compensation resume order-42 --json', does: 'the run, for a program' },
  ],
  'compensation abandon': [
    { call: 'compensation abandon order-42', does: 'what is left was settled by hand' },
    { call: 'compensation abandon order-42 --json', does: 'the run, for a program' },
  ],
  worker: [
    { call: 'worker --concurrency 20', does: 'all flows, twenty runs at once' },
    { call: 'worker --workflows order,invoice --json', does: 'two of them, an object a line' },
  ],
  recover: [
    { call: 'recover', does: 'take over what died, and tell what is left' },
    { call: 'recover --json', does: 'the same for a program' },
  ],
  schedules: [
    { call: 'schedules --next 5', does: 'the next five times of each' },
    { call: 'schedules --json', does: 'for a program' },
  ],
  'schedules pause': [
    { call: 'schedules pause report nightly', does: 'start none until it is resumed' },
    { call: 'schedules pause report 0', does: 'the first one, if it has no id' },
  ],
  'schedules resume': [
    { call: 'schedules resume report nightly', does: 'from its next time on' },
    { call: 'schedules resume report 0', does: 'the first one, if it has no id' },
  ],
  'schedules trigger': [
    { call: 'schedules trigger report nightly', does: 'start a run now' },
    { call: 'schedules trigger report nightly --json', does: 'the run, for a program' },
  ],
  cleanup: [
    { call: 'cleanup --older-than 90d', does: 'whatever way they ended' },
    { call: 'cleanup --older-than 7d --status completed', does: 'only those that completed' },
  ],
  archive: [
    { call: 'archive --older-than 7d', does: 'no longer listed, still shown' },
    { call: 'archive --older-than 1d --status completed', does: 'only those that completed' },
  ],
  init: [
    { call: 'init', does: 'in this folder' },
    { call: 'init my-flows', does: 'in a folder of its own' },
  ],
  doctor: [
    { call: 'doctor', does: 'of this project' },
    { call: 'doctor --db /var/lib/flows/runs.db --json', does: 'of another database, for a program' },
  ],
  migrate: [
    { call: 'migrate --check', does: 'is there something to do?' },
    { call: 'migrate --db /var/lib/flows/runs.db', does: 'do it' },
  ],
  schema: [
    { call: 'schema flow-test', does: 'of flow tests' },
    { call: 'schema --path', does: 'where the one of flows is, for an editor' },
  ],
  completion: [
    { call: 'completion bash >> ~/.bashrc', does: 'for good' },
    { call: 'completion zsh', does: 'to look at' },
  ],
};

/** Puts the examples below the help of all commands, at any depth. */
export function addExamples(program: Command, prefix = ''): void {
  for (const command of program.commands) {
    const name = prefix + command.name();
    const both = examples[name];
    if (both !== undefined) command.addHelpText('after', `\nExamples:\n${textOf(both)}`);
    addExamples(command, `${name} `);
  }
}

function textOf(both: readonly Example[]): string {
  return both.map(({ call, does }) => `  # ${does}\n  $ runsheet ${call}`).join('\n');
}
