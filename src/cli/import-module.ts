import { pathToFileURL } from 'node:url';

let importTypeScript: Promise<Import> | undefined;

type Import = (file: string) => Promise<unknown>;

/** JavaScript as Node imports it, TypeScript through jiti. */
export async function importModule(file: string): Promise<unknown> {
  if (!file.endsWith('.ts')) return import(pathToFileURL(file).href);
  importTypeScript ??= typeScriptImporter();
  return (await importTypeScript)(file);
}

/**
 * `runsheet` inside handlers and config is this very copy, so that projects need not install it only to define
 * handlers, and its errors are recognised whatever copy the project has.
 */
async function typeScriptImporter(): Promise<Import> {
  const [{ createJiti }, runsheet] = await Promise.all([import('jiti'), import('../index.js')]);
  const jiti = createJiti(import.meta.url, { virtualModules: { runsheet } });
  return (file) => jiti.import(file);
}
