// Writes the types of what authors write from the schemas in schemas/. `npm run generate`.
// `generatedTypes` and `generateTypes` are exported for the tests that check that the files are current.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const generatedTypes = {
  workflow: {
    schema: 'schemas/workflow.schema.json',
    file: at('src/definition/document.generated.ts'),
    name: 'WorkflowDocument',
    imports: "import type { JsonObject, JsonValue } from '../common/index.js';",
  },
  flowTest: {
    schema: 'schemas/flow-test.schema.json',
    file: at('src/testing/flow-tests/document.generated.ts'),
    name: 'FlowTestDocument',
    imports: "import type { JsonValue } from '../../common/index.js';",
  },
};

/** `notHere` marks a key that is offered before the form without it is chosen. */
const typeName = (definition) =>
  definition === 'notHere' ? 'never' : definition.charAt(0).toUpperCase() + definition.slice(1);

/** Types are named by their key in `$defs`; titles are for editors, hover texts become doc comments. */
function forTypes(schema) {
  if (Array.isArray(schema)) return schema.map(forTypes);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title: _title, defaultSnippets: _snippets, markdownDescription, ...rest } = schema;
  if (typeof rest.$ref === 'string' && markdownDescription !== undefined) {
    const name = /^#\/\$defs\/(\w+)$/.exec(rest.$ref)?.[1];
    if (name !== undefined) return { tsType: typeName(name), description: markdownDescription };
  }
  const result = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'properties' || key === '$defs'
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, forTypes(inner)]))
        : forTypes(value),
    ]),
  );
  if (markdownDescription !== undefined) result.description = markdownDescription;
  // What only editors and validators need would become needless intersections of types.
  if (result.properties !== undefined || result.tsType !== undefined) {
    for (const key of ['if', 'then', 'else', 'dependentSchemas', 'anyOf']) delete result[key];
  }
  return result;
}

export async function generateTypes({ schema: path, name, imports }) {
  const schema = forTypes(JSON.parse(readFileSync(at(path), 'utf8')));
  delete schema.$id;
  delete schema.$defs.itemWithoutVerb;
  delete schema.$defs.notHere;
  const text = await compile(schema, name, {
    bannerComment: [`// Generated from ${path} by \`npm run generate\`. Do not edit.`, imports].join('\n'),
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    style: { singleQuote: true, printWidth: 120 },
  });
  return text
    .replace(/(?: \*\n)? \* This interface was referenced by .*\n \* via the .*\n/g, '')
    .replace(/\/\*\*\n \*\/\n/g, '');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const types of Object.values(generatedTypes)) writeFileSync(types.file, await generateTypes(types));
}
