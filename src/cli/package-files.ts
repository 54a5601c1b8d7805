import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where a file of the package itself is: a schema, a template, a page of the documentation. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
