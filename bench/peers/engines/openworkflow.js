import { Ends, answer, sqliteFacts, steps } from '../work.js';

export const engine = {
  packages: ['openworkflow'],
  runtime: 'node24',
  isSqlite: true,
  variants: [{ name: 'as it comes', durability: 'power' }],
  settings:
    'BackendSqlite on node:sqlite, one worker, concurrency as many as at once; the end by the call that writes it, since result() asks once a second',

  async open({ folder, atOnce }) {
    const { OpenWorkflow } = await import('openworkflow');
    const { BackendSqlite } = await import('openworkflow/sqlite');
    const backend = BackendSqlite.connect(`${folder}/runs.db`);
    const ends = new Ends();
    const { completeWorkflowRun } = backend;
    backend.completeWorkflowRun = async (end) => {
      const run = await completeWorkflowRun.call(backend, end);
      ends.tell(end.workflowRunId);
      return run;
    };
    const client = new OpenWorkflow({ backend });
    const workflow = client.defineWorkflow({ name: 'three-steps' }, async ({ step: durable }) => {
      for (const step of steps) await durable.run({ name: step }, async () => answer(step));
    });
    const worker = client.newWorker({ concurrency: atOnce });
    await worker.start();
    return {
      facts: sqliteFacts((sql) => backend.db.prepare(sql).get()),
      async runOnce() {
        const { workflowRun } = await workflow.run({});
        await ends.of(workflowRun.id);
      },
      async close() {
        await worker.stop();
        await backend.stop();
      },
    };
  },
};
