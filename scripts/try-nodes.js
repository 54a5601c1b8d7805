// `npm run test:nodes [-- 20 22 24]`: follows docs/guide/getting-started.md word by word, in an empty folder, with the
// packed package, on each version of Node. Slow, since the native module is compiled for each of them.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const versions = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['20', '22', '24'];
const work = mkdtempSync(join(tmpdir(), 'runsheet-nodes-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

const guide = readFileSync(join(root, 'docs/guide/getting-started.md'), 'utf8');
const tarball = pack();
const results = versions.map((version) => ({ version, ...follow(version) }));
for (const { version, ok, says } of results) console.log(`Node ${version}: ${ok ? 'passed' : 'FAILED'} ${says}`);
process.exit(results.every(({ ok }) => ok) ? 0 : 1);

function pack() {
  const { status, stdout } = run('npm', ['pack', '--silent', '--pack-destination', work], { cwd: root });
  if (status !== 0) throw new Error('npm pack failed');
  return join(work, stdout.trim().split('\n').at(-1));
}

/** A Node with an npm of its own, as the first of the PATH: an npm of another Node would compile for that one. */
function nodeOf(version) {
  const folder = join(work, `node-${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', '--silent', '--no-audit', '--no-fund', `node@${version}`, 'npm@10'];
  const { status } = run('npm', install, { cwd: folder });
  const bin = join(folder, 'node_modules', '.bin');
  if (status !== 0 || !existsSync(join(bin, 'node'))) throw new Error(`node@${version} could not be installed`);
  const platform = `node-${process.platform}-${process.arch}`;
  const places = ['node_modules/node/node_modules', 'node_modules'].map((place) => join(folder, place, platform));
  // The headers that native modules are compiled with come along, so that nothing is fetched.
  const headers = places.find((place) => existsSync(join(place, 'include')));
  if (headers === undefined) throw new Error(`node@${version} comes without the headers for native modules`);
  return { bin, headers };
}

function follow(version) {
  const { bin, headers } = nodeOf(version);
  const folder = join(work, `project-${version}`);
  mkdirSync(folder);
  cpSync(tarball, join(folder, 'runsheet-0.1.0.tgz'));
  const path = `${bin}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, NO_COLOR: '1', npm_config_nodedir: headers };
  const shell = (command) => run('bash', ['-euc', command], { cwd: folder, env });

  const actual = shell('node --version').stdout.trim();
  if (!actual.startsWith(`v${version}.`)) return { ok: false, says: `runs ${actual}` };
  for (const block of blocksOf(guide)) {
    if (block.file !== undefined) {
      mkdirSync(dirname(join(folder, block.file)), { recursive: true });
      writeFileSync(join(folder, block.file), block.text);
    } else if (block.language === 'sh') {
      const { status, stdout, stderr } = shell(block.text);
      if (status !== 0) return { ok: false, says: `${actual}: exit ${status} of\n${block.text}${stdout}${stderr}` };
    }
  }
  const mistake = breakFlow(folder, shell);
  if (mistake !== undefined) return { ok: false, says: `${actual}: ${mistake}` };
  return { ok: true, says: actual };
}

/** The mistakes of chapter 2, all at once. */
function breakFlow(folder, shell) {
  const path = join(folder, 'definitions/weekly-report.yaml');
  const right = readFileSync(path, 'utf8');
  const wrong = right
    .replace('sales.read', 'sales.raed')
    .replace('delay: 1s', 'delay: 1')
    .replace('total: =$steps.total', 'total: $steps.total');
  writeFileSync(path, wrong);
  const { status, stdout } = shell('npx runsheet validate');
  writeFileSync(path, right);
  const expected = ['did you mean `sales.read`?', 'RS2013', 'RS2025'];
  const missing = expected.filter((text) => !stdout.includes(text));
  return status === 1 && missing.length === 0 ? undefined : `the mistakes of chapter 2 give ${status}:\n${stdout}`;
}

function blocksOf(text) {
  const blocks = [];
  for (const match of text.matchAll(/(.*)\n*^```(\w*)\n([\s\S]*?)^```$/gm)) {
    const file = /`([\w./-]+\.\w+)`[^`]*$/.exec(match[1])?.[1];
    blocks.push({ language: match[2], text: match[3], file: ['sh', 'console'].includes(match[2]) ? undefined : file });
  }
  return blocks;
}

function run(command, args, options) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { status, stdout, stderr };
}
