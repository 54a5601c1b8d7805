import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isFlowFile, isFlowTestFile } from '../../check/index.js';
import { exitCodes } from '../exit-codes.js';
import { CommandFailure, systemCodeOf } from '../failure.js';
import { type Io, pathOf } from '../io.js';

/**
 * The test files that paths name, each once: files as they are, folders by what is directly in them, a flow by the tests
 * beside it that are called after it.
 *
 * @throws CommandFailure (not found) for a path that does not exist or has no tests
 */
export async function testFilesOf(paths: readonly string[], io: Io): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) files.push(...(await testFilesAt(path, io)));
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
  const stem = name.replace(/\.[a-z]+$/, '');
  const beside = (await testsIn(dirname(path), io)).filter((test) => basename(test).startsWith(`${stem}.`));
  if (beside.length > 0) return beside;
  throw new CommandFailure(
    exitCodes.notFound,
    `there are no tests of ${path} beside it; they would be in ${join(dirname(path), `${stem}.test.yaml`)}`,
  );
}

async function isFolder(path: string, io: Io): Promise<boolean> {
  try {
    return (await stat(pathOf(io, path))).isDirectory();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new CommandFailure(
      exitCodes.notFound,
      `there is no ${path}; give the path of a test file, or of a folder of them`,
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
