import { readFileSync } from 'node:fs';
import { packageFile, packageVersion } from '../package-files.js';
import { type Finding, fine, problem } from './finding.js';

/** Whether this Node can run Runsheet, and its native module fits it. */
export async function checkInstallation(nodeVersion = process.version): Promise<Finding[]> {
  return [fine('Runsheet', packageVersion()), checkNode(nodeVersion), await checkNativeModule()];
}

function checkNode(version: string): Finding {
  const { engines } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { engines: { node: string } };
  const needed = engines.node.replace(/^>=/, '');
  if (isAtLeast(version.slice(1), needed)) return fine('Node', version);
  return problem('Node', `${version} is too old`, `install Node ${needed} or newer`);
}

function isAtLeast(version: string, needed: string): boolean {
  const [own, other] = [version, needed].map((text) => text.split('.').map(Number));
  for (const [index, part] of (other ?? []).entries()) {
    const difference = (own?.[index] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

async function checkNativeModule(): Promise<Finding> {
  try {
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(':memory:');
    const version = db.prepare('select sqlite_version()').pluck().get() as string;
    db.close();
    return fine('SQLite', version);
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    const remedy = 'run `npm rebuild better-sqlite3` with this Node; it needs Python, make and a C++ compiler';
    return problem('SQLite', `its native module cannot be loaded: ${reason}`, remedy);
  }
}
