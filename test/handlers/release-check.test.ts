import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../handlers/_commands.js';
import { globToRegExp } from '../../handlers/_glob.js';
import { isAllowedLicence } from '../../handlers/_spdx.js';
import packageChecks from '../../handlers/package-checks.js';
import releaseReport from '../../handlers/release-report.js';
import repository from '../../handlers/repository.js';
import { callerOf } from '../flows-support/call-handler.js';
import { temporaryFolder } from '../flows-support/temporary-folder.js';

const call = callerOf([...packageChecks, ...repository, releaseReport]);

function project(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@example.test', '-c', 'init.defaultBranch=main', ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );

describe('git.status', () => {
  test('a repository before its first commit, clean, and with every kind of change', async () => {
    const folder = project({
      'a b.txt': 'a',
      'old.txt': 'some text that git recognises when it is moved',
      'gone.txt': 'x',
    });
    git(folder, 'init');
    expect(await call('git.status', { repository: folder })).toEqual({
      commit: null,
      branch: 'main',
      clean: false,
      changes: ['a b.txt', 'gone.txt', 'old.txt'],
    });
    git(folder, 'add', '.');
    git(folder, 'commit', '-m', 'first');
    const commit = git(folder, 'rev-parse', 'HEAD').trim();
    expect(await call('git.status', { repository: folder })).toEqual({
      commit,
      branch: 'main',
      clean: true,
      changes: [],
    });

    git(folder, 'mv', 'old.txt', 'new name.txt');
    git(folder, 'rm', 'gone.txt');
    writeFileSync(join(folder, 'a b.txt'), 'changed');
    writeFileSync(join(folder, 'über\n.txt'), '');
    git(folder, 'checkout', '--detach');
    expect(await call('git.status', { repository: folder })).toEqual({
      commit,
      branch: null,
      clean: false,
      changes: expect.arrayContaining(['a b.txt', 'gone.txt', 'new name.txt', 'über\n.txt']),
    });
  });

  test('a folder that is none, and one that is not there', async () => {
    const folder = temporaryFolder();
    await expect(call('git.status', { repository: folder })).rejects.toMatchObject({
      name: 'NotARepository',
      message: `${folder} is no git repository`,
    });
    await expect(call('git.status', { repository: join(folder, 'nowhere') })).rejects.toMatchObject({
      name: 'CommandMissing',
    });
  });
});

describe('changelog.read', () => {
  const read = (text: string, version = '1.2.0') =>
    call('changelog.read', { repository: project({ 'CHANGELOG.md': text }), version });

  test.each([
    ['## 1.2.0'],
    ['## [1.2.0] - 2025-06-01'],
    ['## v1.2.0 (2025-06-01)'],
    ['## [1.2.0](https://example.test) 2025-06-01'],
  ])('finds the version under %s', async (heading) => {
    expect(
      await read(
        `# Changelog\n\n## Unreleased\n\n- c\n\n${heading}\n\n### Added\n\n- a\n- b\n  - more of b\n\n## 1.1.0\n\n- old\n`,
      ),
    ).toEqual({
      found: true,
      date: heading.includes('2025') ? '2025-06-01' : null,
      entries: 2,
      newest: '1.2.0',
      unreleased: 1,
    });
  });

  test('a version that only begins alike is another', async () => {
    expect(await read('## 1.2.0-beta.1\n\n- a\n')).toMatchObject({ found: false, entries: 0, newest: '1.2.0-beta.1' });
    expect(await read('nothing')).toEqual({ found: false, date: null, entries: 0, newest: null, unreleased: 0 });
  });

  test('no changelog', async () => {
    await expect(call('changelog.read', { repository: temporaryFolder(), version: '1' })).rejects.toMatchObject({
      name: 'FileMissing',
    });
  });
});

describe('licences', () => {
  const allowed = new Set(['MIT', 'ISC', 'Apache-2.0 WITH LLVM-exception']);

  test.each([
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['(MIT OR GPL-3.0-only)', true],
    ['GPL-3.0-only OR MIT', true],
    ['MIT AND GPL-3.0-only', false],
    ['MIT AND (GPL-3.0-only OR ISC)', true],
    ['MIT OR GPL-3.0-only AND LGPL-3.0-only', true],
    ['Apache-2.0', false],
    ['Apache-2.0 WITH LLVM-exception', true],
    ['SEE LICENSE IN licence.txt', false],
    ['(MIT', false],
    ['MIT)', false],
    ['MIT GPL', false],
    ['', false],
    ['MIT OR', false],
  ])('%s: %s', (expression, expected) => {
    expect(isAllowedLicence(expression, allowed)).toBe(expected);
  });

  test('are read as installed; what is missing or old is said', async () => {
    const installed = (version: string, rest: object): string => JSON.stringify({ version, ...rest });
    const repository = project({
      'package-lock.json': JSON.stringify({
        packages: {
          '': { version: '1.0.0' },
          'node_modules/good': { version: '1.0.0' },
          'node_modules/@scope/bad': { version: '1.0.0', license: 'MIT' },
          'node_modules/good/node_modules/inner': { version: '2.0.0', license: 'GPL-3.0-only' },
          'node_modules/ancient': { version: '1.0.0' },
          'node_modules/silent': { version: '1.0.0' },
          'node_modules/stale': { version: '2.0.0', license: 'MIT' },
          'node_modules/other-platform': { version: '1.0.0', optional: true },
          'node_modules/tool': { version: '1.0.0', dev: true },
          'node_modules/workspace': { link: true },
          'packages/workspace': { version: '1.0.0' },
        },
      }),
      'node_modules/good/package.json': installed('1.0.0', { license: 'MIT' }),
      'node_modules/@scope/bad/package.json': installed('1.0.0', { license: 'SSPL-1.0' }),
      'node_modules/good/node_modules/inner/package.json': installed('2.0.0', { license: { type: 'ISC' } }),
      'node_modules/ancient/package.json': installed('1.0.0', { licenses: [{ type: 'GPL-2.0' }, { type: 'MIT' }] }),
      'node_modules/silent/package.json': installed('1.0.0', {}),
      'node_modules/stale/package.json': installed('1.0.0', { license: 'MIT' }),
      'node_modules/tool/package.json': installed('1.0.0', { license: 'GPL-3.0-only' }),
    });
    const check = (includeDevelopment: boolean) =>
      call('licences.check', { repository, allowed: ['MIT', 'ISC'], includeDevelopment });
    const refused = [
      { name: '@scope/bad', version: '1.0.0', licence: 'SSPL-1.0' },
      { name: 'silent', version: '1.0.0', licence: 'none stated' },
    ];
    expect(await check(false)).toEqual({ checked: 5, refused, notInstalled: [{ name: 'stale', version: '2.0.0' }] });
    expect(await check(true)).toMatchObject({
      checked: 6,
      refused: [...refused, { name: 'tool', licence: 'GPL-3.0-only' }],
    });
  });
});

describe('package.contents', () => {
  test('what npm would publish is compared with what package.json and the flow want', async () => {
    const manifest = {
      name: 'p',
      version: '1.0.0',
      files: ['dist', 'secret.env'],
      main: 'dist/index.js',
      bin: { p: './bin/p.js' },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './schemas/*': './dist/schemas/*' },
      scripts: { prepack: 'exit 1', prepare: 'exit 1' },
    };
    const folder = project({
      'package.json': JSON.stringify(manifest),
      'README.md': '# p',
      'dist/index.js': '',
      'dist/schemas/a.json': '{}',
      'dist/index.test.js': '',
      'secret.env': 'TOKEN=1',
    });
    expect(await call('package.read', { repository: folder })).toEqual({ name: 'p', version: '1.0.0', private: false });
    expect(
      await call('package.contents', {
        repository: folder,
        required: ['README.md', 'LICENSE'],
        forbidden: ['*.env', '*.test.*'],
      }),
    ).toMatchObject({
      files: 6,
      missing: ['LICENSE', 'bin/p.js', 'dist/index.d.ts'],
      forbidden: ['dist/index.test.js', 'secret.env'],
    });
  });

  test('a package.json that is none is named', async () => {
    await expect(
      call('package.read', { repository: project({ 'package.json': '{ "name": 1 }' }) }),
    ).rejects.toMatchObject({
      name: 'BadFile',
      message: expect.stringMatching(/package\.json: .*expected string, received number/s),
    });
  });

  test.each([
    ['*.env', 'a/b/secret.env', true],
    ['*.env', 'secret.env.js', false],
    ['test/**', 'test/a/b.js', true],
    ['test/**', 'src/test/a.js', false],
    ['dist/*.js', 'dist/a/b.js', false],
    ['dist/**/*.js', 'dist/a.js', true],
    ['a+b.js', 'a+b.js', true],
    ['a.b', 'aXb', false],
  ])('pattern %s on %s: %s', (pattern, path, expected) => {
    expect(globToRegExp(pattern).test(path)).toBe(expected);
  });
});

describe('commands', () => {
  const options = (signal = new AbortController().signal) => ({ cwd: temporaryFolder(), signal });

  test('are no shell: an argument is an argument', async () => {
    expect(await runCommand(process.execPath, ['-p', 'process.argv[1]', '$(id); `id` && rm'], options())).toBe(
      '$(id); `id` && rm\n',
    );
  });

  test('that fail say with what code and words', async () => {
    const failing = runCommand(process.execPath, ['-e', 'console.error("no luck\\nmore"); process.exit(3)'], options());
    await expect(failing).rejects.toMatchObject({
      name: 'CommandFailed',
      message: expect.stringMatching(/ended with code 3: no luck$/),
      details: { exitCode: 3, stderr: 'no luck\nmore\n' },
    });
  });

  test('end when their signal says so', async () => {
    const controller = new AbortController();
    const endless = runCommand(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], options(controller.signal));
    controller.abort(new Error('out of time'));
    await expect(endless).rejects.toThrow('out of time');
  });
});

test('the report says first whether the package is ready', async () => {
  const folder = temporaryFolder();
  const input = {
    folder,
    name: 'p',
    version: '1.0.0',
    commit: 'abc',
    facts: { 'files in the package': 6, branch: null },
  };
  const findings = [
    { check: 'clean tree', blocks: true, message: '2 paths are not committed: a|b' },
    { check: 'changelog', blocks: false, message: 'entries under Unreleased' },
  ];
  const { file } = (await call('release.report', { ...input, findings })) as { file: string };
  expect(readFileSync(file, 'utf8')).toBe(
    [
      '# Release check: p 1.0.0',
      'Commit abc.',
      '**Not ready**: 1 of 2 findings must be mended first.',
      '## Findings',
      '| Check | Blocks | What |\n| --- | --- | --- |\n| clean tree | yes | 2 paths are not committed: a\\|b |\n| changelog | no | entries under Unreleased |',
      '## Facts',
      '| What | Value |\n| --- | --- |\n| files in the package | 6 |\n| branch | – |\n',
    ].join('\n\n'),
  );
  await call('release.report', { ...input, findings: findings.slice(1), facts: {} });
  expect(readFileSync(file, 'utf8')).toContain('**Ready.**');
});
