import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { createRequire } from 'node:module';
import { answer, freePort, steps } from '../work.js';

const startMs = 30_000;

export const engine = {
  packages: ['@restatedev/restate-server', '@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
  // The SDK needs Promise.withResolvers.
  runtime: 'node24',
  variants: [{ name: 'one node', durability: 'power' }],
  settings:
    'one server as it comes (24 partitions), its endpoint over HTTP/2 in the process of the steps, ctx.run() in a service handler; no limit of runs under way; the end by the answer of the ingress',

  async open({ folder }) {
    const { createEndpointHandler, service } = await import('@restatedev/restate-sdk');
    const { connect } = await import('@restatedev/restate-sdk-clients');
    const flow = service({
      name: 'flow',
      handlers: {
        threeSteps: async (context) => {
          for (const step of steps) await context.run(step, async () => answer(step));
        },
      },
    });
    const endpoint = createServer(createEndpointHandler({ services: [flow], logger: () => {} }));
    await once(endpoint.listen(0, '127.0.0.1'), 'listening');
    const { server, admin, ingress } = await startServer(folder);
    const uri = `http://127.0.0.1:${endpoint.address().port}`;
    const headers = { 'content-type': 'application/json' };
    const told = await fetch(`${admin}/deployments`, { method: 'POST', headers, body: JSON.stringify({ uri }) });
    if (!told.ok) throw new Error(`the server does not take the endpoint: ${await told.text()}`);
    const client = connect({ url: ingress }).serviceClient({ name: 'flow' });
    return {
      facts: 'log server on RocksDB, its write-ahead log synced (rocksdb-disable-wal-fsync = false)',
      runOnce: () => client.threeSteps(),
      async close() {
        server.kill();
        await once(server, 'exit');
      },
    };
  },
};

/** The server itself and not its wrapper, which would leave it behind when it is ended. */
async function startServer(folder) {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  const [node, admin, ingress] = await Promise.all([freePort(), freePort(), freePort()]);
  const env = {
    ...process.env,
    RESTATE_BASE_DIR: `${folder}/restate`,
    RESTATE_NODE_NAME: 'bench',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
  };
  const server = spawn(createRequire(import.meta.url).resolve(name), [], { env, stdio: 'inherit' });
  process.once('exit', () => server.kill());
  const [adminUrl, ingressUrl] = [admin, ingress].map((port) => `http://127.0.0.1:${port}`);
  const until = performance.now() + startMs;
  while (!(await isHealthy(`${adminUrl}/health`)) || !(await isHealthy(`${ingressUrl}/restate/health`))) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    if (performance.now() > until) throw new Error(`the server did not start within ${startMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { server, admin: adminUrl, ingress: ingressUrl };
}

async function isHealthy(url) {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}
