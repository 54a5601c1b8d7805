import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));

let compiled: ReadonlyMap<string, string> | undefined;

/** By file name; those of the flows as they are, since they import each other. */
function compile(): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, 'handlers'))
    .filter((name) => name.endsWith('.ts'))
    .map((name): [string, string] => [name, join(root, 'handlers', name)]);
  files.push(['crash.ts', join(root, 'test/crash/handlers.ts')]);
  files.push(['desk.ts', join(root, 'test/crash/workers/handlers.ts')]);
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
  };
  return new Map(
    files.map(([name, file]) => {
      const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions });
      return [name.replace(/\.ts$/, '.js'), outputText];
    }),
  );
}

/**
 * The handlers of the flows and those of the crash tests as JavaScript, in a new folder inside `folder`: processes
 * that live for two seconds cannot spend one of them on TypeScript.
 */
export function compiledHandlers(folder: string): string {
  const target = join(folder, 'handlers');
  mkdirSync(target);
  compiled ??= compile();
  for (const [name, text] of compiled) writeFileSync(join(target, name), text);
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  // Through links, so that they get the very modules that the worker has.
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >;
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  for (const name of packages) {
    const link = join(target, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  symlinkSync(root, join(target, 'node_modules', 'runsheet'));
  return target;
}
