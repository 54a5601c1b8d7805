import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../../../', import.meta.url));

let bundled: Promise<readonly OutputChunk[]> | undefined;
/** By the folder that they lie in. */
const programs = new Map<string, Promise<string>>();

/** worker.js and, in a folder of their own, the handlers of the flows and those of the crash tests. */
async function bundle(): Promise<readonly OutputChunk[]> {
  const flows = readdirSync(join(root, 'handlers')).filter((name) => name.endsWith('.ts') && !name.startsWith('_'));
  const handlers = [
    ...flows.map((name) => [name.replace(/\.ts$/, ''), `handlers/${name}`]),
    ['crash', 'test/crash/handlers.ts'],
    ['desk', 'test/crash/workers/handlers.ts'],
  ].map(([name, file]) => [`handlers/${name}`, join(root, file ?? '')]);
  const build = await rolldown({
    input: { worker: join(root, 'test/crash/workers/worker.js'), ...Object.fromEntries(handlers) },
    platform: 'node',
    external: ['better-sqlite3'],
    resolve: { alias: { runsheet: join(root, 'dist/index.js') } },
  });
  try {
    const { output } = await build.generate({ format: 'esm', chunkFileNames: 'shared/[name].js' });
    return output.filter((file) => file.type === 'chunk');
  } finally {
    await build.close();
  }
}

/**
 * The program of a `WorkerProcess`, inside `folder`: the worker, what it uses of `dist`, and its
 * handlers in a few files. Loading them takes a quarter of the time that the hundreds of modules would, and processes
 * that live for two seconds cannot spend one of them on that.
 */
export function workerProgram(folder: string): Promise<string> {
  const program = programs.get(folder) ?? write(join(folder, 'program'));
  programs.set(folder, program);
  return program;
}

async function write(target: string): Promise<string> {
  bundled ??= bundle();
  for (const { fileName, code } of await bundled) {
    mkdirSync(dirname(join(target, fileName)), { recursive: true });
    writeFileSync(join(target, fileName), code);
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  // For what is loaded only when it is needed: the driver of SQLite, Ajv.
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
  return target;
}
