import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { runCommand } from './_commands.js';
import { readText } from './_files.js';
import { globToRegExp } from './_glob.js';
import { isAllowedLicence } from './_spdx.js';

const manifestSchema = z.looseObject({ name: z.string(), version: z.string(), private: z.boolean().default(false) });

/** Reads a JSON file as a schema has it. @throws NonRetryableError FileMissing or BadFile */
async function readJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  signal: AbortSignal,
): Promise<z.output<Schema>> {
  const text = await readText(file, signal);
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new NonRetryableError(`${file}: ${why}`, { name: 'BadFile', cause: error });
  }
}

const manifest = defineHandler({
  name: 'package.read',
  description: 'Reads name and version from the package.json of a repository.',
  input: z.strictObject({ repository: z.string() }),
  output: z.object({ name: z.string(), version: z.string(), private: z.boolean() }),
  errors: ['FileMissing', 'BadFile'],
  run: ({ input, signal }) => readJson(join(input.repository, 'package.json'), manifestSchema, signal),
});

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      link: z.boolean().default(false),
    }),
  ),
});

const named = z.object({ name: z.string(), version: z.string() });

const licences = defineHandler({
  name: 'licences.check',
  description: 'Compares the licences of the dependencies, as installed, with a list of allowed ones.',
  input: z.strictObject({
    repository: z.string(),
    allowed: z.array(z.string()).describe('SPDX identifiers'),
    includeDevelopment: z.boolean().default(false),
  }),
  output: z.object({
    checked: z.int(),
    refused: z.array(named.extend({ licence: z.string() })),
    notInstalled: z.array(named).describe('in the lock file but not, or not in that version, in node_modules'),
  }),
  errors: ['FileMissing', 'BadFile'],
  async run({ input: { repository, allowed, includeDevelopment }, signal }) {
    const { packages } = await readJson(join(repository, 'package-lock.json'), lockSchema, signal);
    const allowedSet = new Set(allowed);
    const refused: { name: string; version: string; licence: string }[] = [];
    const notInstalled: { name: string; version: string }[] = [];
    let checked = 0;
    for (const [path, locked] of Object.entries(packages)) {
      if (!path.startsWith('node_modules/') || locked.link || (locked.dev && !includeDevelopment)) continue;
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const version = locked.version ?? '';
      const installed = await installedPackage(join(repository, path), signal);
      if (installed?.version !== version) {
        // Packages for other platforms are locked everywhere and installed where they fit.
        if (!locked.optional && !locked.devOptional) notInstalled.push({ name, version });
        continue;
      }
      checked += 1;
      const licence = licenceOf(installed) ?? locked.license ?? 'none stated';
      if (!isAllowedLicence(licence, allowedSet)) refused.push({ name, version, licence });
    }
    return { checked, refused, notInstalled };
  },
});

const installedSchema = z.looseObject({
  version: z.string(),
  license: z.union([z.string(), z.object({ type: z.string() })]).optional(),
  licenses: z.array(z.object({ type: z.string() })).optional(),
});

async function installedPackage(
  folder: string,
  signal: AbortSignal,
): Promise<z.infer<typeof installedSchema> | undefined> {
  try {
    return await readJson(join(folder, 'package.json'), installedSchema, signal);
  } catch (error) {
    if (error instanceof Error && error.name === 'FileMissing') return undefined;
    throw error;
  }
}

/** Old packages state `{ type }`, or a list of which one may be chosen. */
function licenceOf({ license, licenses }: z.infer<typeof installedSchema>): string | undefined {
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ');
}

const packReport = z.tuple([
  z.object({ filename: z.string(), unpackedSize: z.number(), files: z.array(z.object({ path: z.string() })) }),
]);

const contents = defineHandler({
  name: 'package.contents',
  description:
    'Asks npm what it would publish, and compares that with what must and must not be in it. Writes nothing.',
  input: z.strictObject({
    repository: z.string(),
    required: z.array(z.string()).default([]).describe('paths; what package.json itself points to is required anyway'),
    forbidden: z.array(z.string()).default([]).describe('patterns such as "*.env" or "test/**"'),
  }),
  output: z.object({
    files: z.int(),
    unpackedBytes: z.int(),
    missing: z.array(z.string()),
    forbidden: z.array(z.string()),
  }),
  errors: ['FileMissing', 'BadFile', 'CommandMissing', 'CommandFailed'],
  async run({ input: { repository, required, forbidden }, signal }) {
    const { main, types, bin, exports } = await readJson(join(repository, 'package.json'), manifestSchema, signal);
    // Without the scripts, which may do anything; offline, since nothing of this needs the network.
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline', '--loglevel=error', '--logs-max=0'];
    const env = { npm_config_update_notifier: 'false' };
    const [packed] = packReport.parse(JSON.parse(await runCommand('npm', args, { cwd: repository, signal, env })));
    const paths = packed.files.map(({ path }) => path);
    const wanted = new Set([...required, ...[main, types, bin, exports].flatMap(targets)]);
    return {
      files: paths.length,
      unpackedBytes: packed.unpackedSize,
      missing: [...wanted]
        .filter((path) => !paths.some((packedPath) => globToRegExp(`./${path}`).test(`./${packedPath}`)))
        .sort(),
      forbidden: paths.filter((path) => forbidden.some((pattern) => globToRegExp(pattern).test(path))),
    };
  },
});

/** The files that `main`, `types`, `bin` or `exports` point to, however deep: `./a.js` → `a.js`. */
function targets(value: unknown): string[] {
  if (typeof value === 'string') return [value.replace(/^\.\//, '')];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(targets) : [];
}

export default [manifest, licences, contents];
