import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runFlowFile } from '../flows-support/run-flow-file.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const files: Record<string, string> = {
  'package.json': JSON.stringify({
    name: 'p',
    version: '1.0.0',
    main: 'index.js',
    files: ['index.js', 'CHANGELOG.md'],
  }),
  'package-lock.json': JSON.stringify({
    packages: {
      '': {},
      'node_modules/good': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true },
    },
  }),
  '.gitignore': 'node_modules/\n',
  'node_modules/good/package.json': JSON.stringify({ name: 'good', version: '1.0.0', license: 'MIT' }),
  'README.md': '# p\n',
  LICENSE: 'MIT\n',
  'CHANGELOG.md': '# Changelog\n\n## 1.0.0 - 2025-06-01\n\n- first release\n',
  'index.js': '',
};

/** A repository that is ready to be released, save for the changes; `null` leaves a file out. */
function repositoryWith(changes: Record<string, string | null> = {}, { commit = true } = {}): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries({ ...files, ...changes })) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
  };
  git('init');
  if (commit) {
    git('add', '.');
    git('commit', '-m', 'first');
  }
  return folder;
}

const check = async (repository: string, options: { strict?: boolean } = {}) => {
  const folder = temporaryFolder();
  const { run } = await runFlowFile('definitions/release-check.yaml', { repository, folder, ...options });
  return { run, report: readFileSync(join(folder, 'report.md'), 'utf8') };
};

test('a repository that is ready', async () => {
  const { run, report } = await check(repositoryWith());
  expect(run.error).toBeNull();
  expect(run.output).toMatchObject({ package: 'p', version: '1.0.0', ready: true, findings: [] });
  expect(report).toContain('**Ready.**');
  expect(report).toContain('| date in the changelog | 2025-06-01 |');
  expect(report).toContain('| licences looked at | 1 |');
});

test('one with every fault at once: all are found, in the order of the checks', async () => {
  const repository = repositoryWith({
    'package.json': JSON.stringify({
      name: 'p',
      version: '1.1.0',
      main: 'dist/index.js',
      files: ['index.js', 'prod.env'],
    }),
    'node_modules/good/package.json': JSON.stringify({ name: 'good', version: '1.0.0', license: 'GPL-3.0-only' }),
    LICENSE: null,
    'prod.env': 'TOKEN=1',
  });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) writeFileSync(join(repository, name), '');
  const { run, report } = await check(repository);
  expect(run.status).toBe('completed');
  expect(run.output).toMatchObject({
    ready: false,
    findings: [
      { check: 'clean tree', blocks: true, message: '6 paths are not committed: a, b, c, d, e, …' },
      { check: 'changelog', blocks: true, message: 'CHANGELOG.md says nothing of 1.1.0, its newest version is 1.0.0' },
      { check: 'licences', blocks: true, message: 'good 1.0.0 is under GPL-3.0-only' },
      { check: 'contents', message: 'CHANGELOG.md would be missing in the package' },
      { check: 'contents', message: 'LICENSE would be missing in the package' },
      { check: 'contents', message: 'dist/index.js would be missing in the package' },
      { check: 'contents', message: 'prod.env would be published' },
    ],
  });
  expect(report).toContain('**Not ready**: 7 of 7 findings must be mended first.');
});

test('what is only worth a word does not block', async () => {
  const changelog = '## Unreleased\n\n- more\n\n## 1.0.0\n\n- first\n';
  const { run } = await check(repositoryWith({ 'CHANGELOG.md': changelog, 'package-lock.json': null }), {
    strict: true,
  });
  expect(run.output).toMatchObject({
    ready: true,
    findings: [
      { check: 'changelog', blocks: false, message: '1 entries stand under Unreleased still' },
      { check: 'licences', blocks: false, message: expect.stringContaining('there is no file') },
    ],
  });
});

test('no repository, no changelog, and strict: the run fails, the report is there', async () => {
  const repository = repositoryWith({ 'CHANGELOG.md': null });
  rmSync(join(repository, '.git'), { recursive: true });
  const { run, report } = await check(repository, { strict: true });
  expect(run).toMatchObject({
    status: 'failed',
    error: { name: 'NotReady', message: expect.stringMatching(/^p 1\.0\.0 is not ready, see /) },
  });
  expect(report).toContain('is no git repository');
  expect(report).toContain('there is no file');
  expect(report).toContain('No commit.');
});
