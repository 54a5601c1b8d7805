// `npm test`: everything. Checks (format, lint, types), a fresh build, then all test files.
// The last line is the plain count that CI reads.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const run = (command, ...args) => spawnSync(command, args, { stdio: 'inherit' }).status ?? 1;

for (const script of ['check', 'build']) {
  if (run('npm', 'run', '--silent', script) !== 0) {
    console.error(`npm run ${script} failed`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'runsheet-test-'));
const report = join(folder, 'report.json');
const vitest = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--reporter=./scripts/progress-reporter.js',
  '--reporter=json',
];
const status = run(process.execPath, ...vitest, `--outputFile.json=${report}`, ...process.argv.slice(2));
let passed = 0;
let failed = 0;
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  passed = result.numPassedTests;
  failed = result.numFailedTests;
} catch (error) {
  console.error(`no test report: ${error.message}`);
}
rmSync(folder, { recursive: true, force: true });
// A file that cannot be loaded, or a run without a single test, is a failure too, though no test of it failed.
if ((status !== 0 && failed === 0) || passed + failed === 0) failed += 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
