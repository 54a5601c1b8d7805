import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/index.js';
import { exitCodeOf, exitCodes } from '../../src/cli/exit-codes.js';
import { type Surroundings, processIo } from '../../src/cli/io.js';
import { type ErrorCode, errorCodes } from '../../src/common/index.js';
import { neverRetried, uncatchable } from '../../src/interpreter/run-error.js';
import { page, root, section } from './manual.js';

const cli = page('docs/reference/cli.md');

async function help(...command: string[]): Promise<string> {
  let text = '';
  const io: Surroundings = {
    ...processIo,
    out: (more) => void (text += more),
    err: (more) => void (text += more),
  };
  expect(await main(['node', 'runsheet', ...command, '--help'], io)).toBe(0);
  return text;
}

const commands = [...(await help()).matchAll(/^ {2}([a-z]+) .*\[options\]/gm)]
  .map(([, name = '']) => name)
  .filter((name) => name !== 'help');

describe('the reference of the command line', () => {
  it('knows the commands', () => expect(commands).toContain('run'));

  it.each(commands)('documents %s and its options', async (command) => {
    const text = section(cli, `\`runsheet ${command}`);
    const options = [...(await help(command)).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(
      ([, option = '']) => option,
    );
    const shared = ['--help', '--config', '--untrusted', '--verbose'];
    expect(options).toEqual(expect.arrayContaining(shared));
    expect(options.filter((option) => !shared.includes(option) && !text.includes(`\`${option}`))).toEqual([]);
  });

  it('documents no command that is not there', () => {
    const documented = [...cli.text.matchAll(/^## `runsheet ([a-z]+)/gm)].map(([, name = '']) => name);
    expect([...documented].sort()).toEqual([...commands].sort());
  });

  it('documents each exit code', () => {
    const documented = [...section(cli, 'Exit codes').matchAll(/^\| (\d+) /gm)].map(([, code]) => Number(code));
    expect(documented).toEqual(Object.values(exitCodes));
  });
});

describe('the reference of errors', () => {
  const errors = page('docs/reference/errors.md');

  it('documents each code with what a command ends with, and no other', () => {
    const rows = [...section(errors, 'Errors of the library').matchAll(/^\| `(RS_\w+)` +\| (\d+) +\| \S/gm)];
    expect(rows.map(([, code, exit]) => [code, Number(exit)])).toEqual(
      Object.keys(errorCodes).map((code) => [code, exitCodeOf[code as ErrorCode]]),
    );
  });

  it('documents each error that the language raises, and says rightly what is never retried or caught', () => {
    const rows = [...section(errors, 'Errors of runs').matchAll(/^\| `(\w+)` +\| .+ \| (\S.*?) +\| (\S.*?) +\|$/gm)];
    const names = rows.map(([, name = '']) => name);
    const raised = new Set(
      interpreterSources().flatMap((text) => [...text.matchAll(/languageError\(\s*'(\w+)'/g)].map(([, name]) => name)),
    );
    expect(names).toEqual(expect.arrayContaining([...raised]));
    const marked = (column: 2 | 3): string[] =>
      rows.filter((row) => row[column] === 'never').map(([, name = '']) => name);
    expect(new Set(marked(2))).toEqual(neverRetried);
    expect(new Set(marked(3))).toEqual(uncatchable);
  });
});

describe('the reference of events', () => {
  it('documents each type, and no other', () => {
    const source = readFileSync(join(root, 'src/engine/events.ts'), 'utf8');
    const union = /type RunEventType =([\s\S]*?);/.exec(source)?.[1] ?? '';
    const types = [...union.matchAll(/'([\w:]+)'/g)].map(([, type]) => type);
    expect(types.length).toBeGreaterThan(10);
    const documented = [...page('docs/reference/events.md').text.matchAll(/^\| `(\w+:\w+)`/gm)].map(([, type]) => type);
    expect(documented.sort()).toEqual(types.sort());
  });
});

function interpreterSources(): string[] {
  const folder = join(root, 'src/interpreter');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8'));
}
