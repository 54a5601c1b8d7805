import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { SqliteStorage, createEngine } from 'runsheet';
import { expect, test } from 'vitest';
import { builtCommand } from '../cli/built-command.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { definitionOf } from '../support/flow.js';

const flow = 'workflow: f\nsteps:\n  - set: 1\n';

/** Starts a run, drives nothing, and has nothing to do but to wait for its end. */
const program = `
const { SqliteStorage, createEngine, loadDefinitions } = await import(process.argv[2]);
const engine = createEngine({ storage: new SqliteStorage('runs.db'), definitions: await loadDefinitions('.') });
const { id } = await engine.enqueue('f');
console.log(id);
console.log((await engine.result(id)).status);
await engine.close();
`;

test('a process lives as long as it waits for the end of a run, though another drives that', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'f.yaml'), flow);
  writeFileSync(join(folder, 'wait.mjs'), program);
  const library = pathToFileURL(join(dirname(builtCommand()), '..', 'dist', 'index.js')).href;
  const child = spawn(process.execPath, ['wait.mjs', library], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<unknown>((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toMatch(/^wf_/);
  const storage = new SqliteStorage(join(folder, 'runs.db'));
  const engine = createEngine({ storage, definitions: [definitionOf(flow)] });
  await engine.start();
  expect((await lines.next()).value).toBe('completed');
  expect(await exited).toBe(0);
  await engine.close();
});
