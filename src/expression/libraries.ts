import { createRequire } from 'node:module';
import type jsonataModule from 'jsonata';

const load = createRequire(import.meta.url);

// It takes as long to load as a flow to check, and most flows are checked without it.
// Synchronous, since compiling a formula is; that is why this is not `import()`.

export function loadJsonata(): typeof jsonataModule {
  return load('jsonata') as typeof jsonataModule;
}
