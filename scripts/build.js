// Builds dist/ from src/ with plain tsc. `prepare` calls it, so it must work right after an install.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}/node_modules/typescript/bin/tsc`;
if (!existsSync(compiler)) {
  // Also what `npm pack` and `npm publish` come to in a fresh checkout.
  console.error('The packages of this checkout are not installed; run `npm ci` first, which builds dist/ as well.');
  process.exit(1);
}
rmSync(`${root}/dist`, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', root], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
