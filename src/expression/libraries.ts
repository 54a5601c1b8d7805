import { createRequire } from 'node:module';
import type jsonataModule from 'jsonata';
import type * as Re2Module from 're2js';

const load = createRequire(import.meta.url);

// Both take as long to load as a flow to check, and most flows are checked without them.
// Synchronous, since compiling a formula is; that is why these are not `import()`.

export function loadJsonata(): typeof jsonataModule {
  return load('jsonata') as typeof jsonataModule;
}

export function loadRe2(): typeof Re2Module.RE2JS {
  return (load('re2js') as typeof Re2Module).RE2JS;
}
