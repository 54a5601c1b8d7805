import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

interface GeneratedTypes {
  readonly file: string;
}

interface Generator {
  readonly generatedTypes: Record<'workflow' | 'flowTest', GeneratedTypes>;
  generateTypes(types: GeneratedTypes): Promise<string>;
}

/** The generated types are those of the schema as it is now. */
export async function expectCurrentTypes(of: 'workflow' | 'flowTest'): Promise<void> {
  const { generatedTypes, generateTypes } = (await import('../../scripts/generate-types.js' as string)) as Generator;
  const types = generatedTypes[of];
  expect(readFileSync(types.file, 'utf8'), 'run `npm run generate`').toBe(await generateTypes(types));
}
