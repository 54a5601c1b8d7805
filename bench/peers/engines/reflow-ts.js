import { Ends, answer, sqliteFacts, steps } from '../work.js';

const anything = { '~standard': { version: 1, vendor: 'bench', validate: (value) => ({ value }) } };

export const engine = {
  packages: ['reflow-ts'],
  runtime: 'node',
  isSqlite: true,
  variants: [
    { name: 'as it comes', durability: 'process' },
    { name: 'FULL forced', durability: 'power' },
  ],
  settings:
    'SQLiteStorage on better-sqlite3, concurrency as many as at once; called by tick() while runs are under way instead of once a second; the end by onRunComplete',

  async open({ folder, durability, atOnce }) {
    const { createEngine, createWorkflow } = await import('reflow-ts');
    const { SQLiteStorage } = await import('reflow-ts/sqlite-node');
    const storage = new SQLiteStorage(`${folder}/runs.db`);
    if (durability === 'power') storage.db.pragma('synchronous = FULL');
    await storage.initialize();
    const workflow = steps.reduce(
      (flow, step) => flow.step(step, async () => answer(step)),
      createWorkflow({ name: 'three-steps', input: anything }),
    );
    const ends = new Ends();
    let underWay = 0;
    const onRunComplete = ({ runId }) => {
      underWay -= 1;
      ends.tell(runId);
    };
    const opened = createEngine({ storage, workflows: [workflow], concurrency: atOnce, hooks: { onRunComplete } });

    let isTicking = false;
    const tick = async () => {
      isTicking = true;
      while (underWay > 0) await opened.tick();
      isTicking = false;
    };
    return {
      facts: sqliteFacts((sql) => storage.db.prepare(sql).get()),
      async runOnce() {
        const { id } = await opened.enqueue('three-steps', {});
        underWay += 1;
        if (!isTicking) void tick();
        await ends.of(id);
      },
      async close() {
        await opened.stop();
        storage.close();
      },
    };
  },
};
