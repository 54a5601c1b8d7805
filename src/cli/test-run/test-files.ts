import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { flowNameOf, isFlowFile, isFlowTestFile } from '../../check/index.js';
import type { Source } from '../../syntax/index.js';
import { exitCodes } from '../exit-codes.js';
import { CommandFailure, systemCodeOf } from '../failure.js';
import { isPath, namedFlows } from '../find-flow.js';
import { readFlow } from '../flow-files.js';
import { type Io, pathOf } from '../io.js';
import type { PathSetting } from '../settings.js';
import { isTestOf, testedBy } from '../tested-flow.js';

/**
 * The test files that paths and names mean, each once: files as they are, folders by what is directly in them, a flow
 * by the tests beside it that are called after it or are about it, a name by those of the flows of that name.
 *
 * @param targets none: the folder of the definitions
 * @param folder of the definitions, where names are looked for
 * @throws CommandFailure (not found) for what does not exist or has no tests
 */
export async function testFilesOf(targets: readonly string[], folder: PathSetting, io: Io): Promise<string[]> {
  if (targets.length === 0) return testFilesAt(folder.path, io);
  const files: string[] = [];
  for (const target of targets) {
    files.push(...(isPath(target, io) ? await testFilesAt(target, io) : await testFilesNamed(target, folder, io)));
  }
  return [...new Set(files)];
}

async function testFilesAt(path: string, io: Io): Promise<string[]> {
  if (await isFolder(path, io)) {
    const tests = await testsIn(path, io);
    if (tests.length > 0) return tests;
    throw new CommandFailure(exitCodes.notFound, `there are no flow tests (*.test.yaml) in the folder ${path}`);
  }
  const name = basename(path);
  if (isFlowTestFile(name) || !isFlowFile(name)) return [path];
  return testsOf([await readFlow(path, io)], path, io);
}

async function testFilesNamed(workflow: string, folder: PathSetting, io: Io): Promise<string[]> {
  return testsOf(await namedFlows(workflow, folder, io), `the workflow ${workflow}`, io);
}

/** The tests beside flows that are called after them or are about them. */
async function testsOf(flows: readonly Source[], what: string, io: Io): Promise<string[]> {
  const found: string[] = [];
  for (const folder of new Set(flows.map(({ name }) => dirname(name)))) {
    for (const test of await testsIn(folder, io)) {
      const tested = testedBy(await readFlow(test, io));
      const isMeant = (flow: Source): boolean =>
        basename(test).startsWith(`${stemOf(flow)}.`) || isTestOf(tested, { path: flow.name, name: flowNameOf(flow) });
      if (flows.some(isMeant)) found.push(test);
    }
  }
  if (found.length > 0) return found;
  const [first] = flows;
  const place = first === undefined ? '' : join(dirname(first.name), `${stemOf(first)}.test.yaml`);
  throw new CommandFailure(exitCodes.notFound, `there are no tests of ${what} beside it; they would be in ${place}`);
}

function stemOf({ name }: Source): string {
  return basename(name).replace(/\.[a-z]+$/, '');
}

async function isFolder(path: string, io: Io): Promise<boolean> {
  try {
    return (await stat(pathOf(io, path))).isDirectory();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new CommandFailure(
      exitCodes.notFound,
      `there is no ${path}; give the path of a test file, of a folder of them, or the name of a workflow`,
    );
  }
}

async function testsIn(folder: string, io: Io): Promise<string[]> {
  const entries = await readdir(pathOf(io, folder), { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && isFlowTestFile(entry.name))
    .map(({ name }) => join(folder, name))
    .sort();
}
