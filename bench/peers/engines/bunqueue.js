import { Ends, answer, sqliteFacts, steps } from '../work.js';

export const engine = {
  packages: ['bunqueue'],
  runtime: 'bun',
  isSqlite: true,
  variants: [{ name: 'as it comes', durability: 'power' }],
  settings:
    'workflow Engine, embedded, queue (synchronous=NORMAL) and executions (FULL) in one file, concurrency as many as at once; the end by the event workflow:completed',

  async open({ folder, atOnce }) {
    const { Engine, Workflow } = await import('bunqueue/workflow');
    const workflow = steps.reduce(
      (flow, step) => flow.step(step, async () => answer(step)),
      new Workflow('three-steps'),
    );
    const opened = new Engine({ embedded: true, dataPath: `${folder}/runs.db`, concurrency: atOnce });
    opened.register(workflow);
    const ends = new Ends();
    opened.on('workflow:completed', ({ executionId }) => ends.tell(executionId));
    return {
      facts: sqliteFacts((sql) => opened.store.db.query(sql).get()),
      async runOnce() {
        const { id } = await opened.start('three-steps', {});
        await ends.of(id);
      },
      close: () => opened.close(),
    };
  },
};
