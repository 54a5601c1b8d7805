import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { manual, page, root } from './manual.js';

/** Each TypeScript block of the manual as a file that lies in `test/docs`, though only in memory. */
const snippets = new Map(
  manual().flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => language === 'ts')
      .map(({ line, text }): [string, string] => [
        resolve(root, 'test/docs', `${path.replace(/\W/g, '-')}-${line}.ts`),
        text,
      ]),
  ),
);
const index = join(root, 'src/index.ts');
const program = newProgram();
const checker = program.getTypeChecker();

function newProgram(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.test.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => snippets.has(resolve(path)) || fileExists(path);
  host.readFile = (path) => snippets.get(resolve(path)) ?? readFile(path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = snippets.get(resolve(path));
    return text === undefined
      ? getSourceFile(path, languageVersion, ...rest)
      : ts.createSourceFile(path, text, languageVersion);
  };
  return ts.createProgram([...snippets.keys(), index], options, host);
}

function exported(): ReadonlyMap<string, ts.Symbol> {
  const file = program.getSourceFile(index);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error('src/index.ts exports nothing');
  return new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolved(symbol)]));
}

function resolved(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The public members of an exported class or interface. */
function members(name: string): string[] {
  const symbol = exported().get(name);
  if (symbol === undefined) throw new Error(`runsheet does not export ${name}`);
  return checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .filter((member) => !member.getJsDocTags().some(({ name }) => name === 'internal'))
    .map((member) => member.name)
    .filter((member) => !member.startsWith('__#') && !member.startsWith('#'));
}

describe('TypeScript in the manual', () => {
  it('is there', () => expect(snippets.size).toBeGreaterThanOrEqual(5));

  it.each([...snippets.keys()])('%s type-checks', (path) => {
    const file = program.getSourceFile(path);
    const problems = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});

describe('the reference of the API', () => {
  const { text } = page('docs/reference/api.md');

  it.each(['EngineOptions', 'SqliteStorageOptions', 'Run', 'RunEvent', 'Recovery'])('documents all of %s', (name) => {
    const names = members(name);
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((member) => !new RegExp(`\\b${member}\\b`).test(text))).toEqual([]);
  });

  it('documents each method of the engine', () => {
    const names = members('Engine');
    expect(names).toContain('enqueue');
    expect(names.filter((member) => !text.includes(`\`${member}(`))).toEqual([]);
  });

  it('documents each function and class that can be imported', () => {
    const values = [...exported()].filter(([, symbol]) => symbol.flags & ts.SymbolFlags.Value).map(([name]) => name);
    expect(values).toContain('createEngine');
    expect(values.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });
});
