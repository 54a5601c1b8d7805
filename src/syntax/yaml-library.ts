import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

let library: typeof Yaml | undefined;

/**
 * The YAML library, loaded when first asked for: its 60 modules take half as long as Node itself takes to start, and a
 * sound file is read without them (see `plain-reader/`).
 */
export function yamlLibrary(): typeof Yaml {
  library ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return library;
}
