import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'runsheet-command');

/** What the command reads beside its code. */
const beside = ['docs', 'package.json', 'schemas', 'templates'];

/**
 * The path of the command, built from the sources as they are now (inside `node_modules`, so that it finds its
 * dependencies); once for all test files. Without type checks, which `npm test` makes elsewhere.
 */
export function builtCommand(): string {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const state = createHash('sha256').update(root);
  for (const file of sources.sort()) {
    const { mtimeMs, size } = statSync(join(root, 'src', file));
    state.update(`${file} ${mtimeMs} ${size}\n`);
  }
  state.update(readFileSync(join(root, 'bin', 'runsheet.js')));
  const folder = join(cache, state.digest('hex').slice(0, 16));
  if (!existsSync(folder)) build(sources, folder);
  return join(folder, 'bin', 'runsheet.js');
}

function build(sources: readonly string[], folder: string): void {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  for (const file of sources) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, 'src', file), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    const target = join(draft, 'dist', file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  // Not by a link: Node would take the command for the one that the link leads to.
  cpSync(join(root, 'bin'), join(draft, 'bin'), { recursive: true });
  for (const name of beside) symlinkSync(join(root, name), join(draft, name));
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
}
