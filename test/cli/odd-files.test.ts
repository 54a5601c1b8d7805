import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFiles } from '../../src/cli/check-files.js';
import { harmlessOutput } from '../../src/cli/harmless-output.js';
import { processIo } from '../../src/cli/io.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runsheet-odd-files-'));
  writeFileSync(join(folder, 'sound.yaml'), 'workflow: sound\nsteps: []\n');
  writeFileSync(join(folder, 'wrong.yaml'), 'workflow: wrong\nsteps:\n  - stp: a.b\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function said(path = folder): Promise<string[]> {
  const { findings } = await checkFiles({ paths: [path] }, undefined, harmlessOutput({ ...processIo, cwd: folder }));
  return findings.flatMap(({ source, diagnostics }) =>
    diagnostics.map(({ code, message }) => `${source.name.replace(`${folder}/`, '')} ${code} ${message}`),
  );
}

test('a file of a folder that cannot be read is a mistake of that file alone', async () => {
  symlinkSync('nowhere.yaml', join(folder, 'dangling.yaml'));
  symlinkSync('/etc/passwd', join(folder, 'outside.yaml'));
  symlinkSync('/dev/zero', join(folder, 'endless.yaml'));
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  expect(await said()).toEqual([
    'dangling.yaml RS1036 the file cannot be read: it is a link that leads nowhere',
    'endless.yaml RS1036 the file cannot be read: it is a link that leads out of the project',
    'outside.yaml RS1036 the file cannot be read: it is a link that leads out of the project',
    'pipe.yaml RS1036 the file cannot be read: it is not a regular file',
    'wrong.yaml RS2007 `stp` is no verb',
  ]);
});

test('what editors hide in a folder is passed over', async () => {
  symlinkSync('eva@host.4711:1', join(folder, '.#sound.yaml'));
  writeFileSync(join(folder, '._sound.yaml'), '\0\0');
  writeFileSync(join(folder, '.hidden.test.yaml'), 'x');
  expect(await said()).toEqual(['wrong.yaml RS2007 `stp` is no verb']);
});

test('a link inside the project is followed', async () => {
  symlinkSync('wrong.yaml', join(folder, 'link.yaml'));
  expect(await said()).toEqual(['link.yaml RS2007 `stp` is no verb', 'wrong.yaml RS2007 `stp` is no verb']);
});

test('an endless file is refused where it is named itself', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  await expect(said(join(folder, 'pipe.yaml'))).rejects.toThrow('not a regular file');
  await expect(said('/dev/zero')).rejects.toThrow('not a regular file');
});
