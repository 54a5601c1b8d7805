// Before `npm pack` and `npm publish`: writes sbom.cdx.json, the list of all packages that come with this one (CycloneDX 1.5), from the
// lock file, by npm itself.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const options = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
const { status, stdout } = spawnSync('npm', options, {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (status !== 0) process.exit(status ?? 1);
const bill = JSON.parse(stdout);
// npm takes the name of the folder.
bill.metadata.component.name = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).name;
writeFileSync(`${root}/sbom.cdx.json`, `${JSON.stringify(bill, undefined, 2)}\n`);
