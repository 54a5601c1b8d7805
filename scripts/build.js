// Builds dist/ from src/ with plain tsc. `prepare` calls it, so it must work right after an install.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}/dist`, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '-p', root], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
