import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/index.js';
import { exitCodes } from '../../src/cli/exit-codes.js';
import { type Io, processIo } from '../../src/cli/io.js';
import { errorCodes } from '../../src/common/index.js';
import { page, section } from './manual.js';

const cli = page('docs/reference/cli.md');
const api = page('docs/reference/api.md');

async function help(...command: string[]): Promise<string> {
  let text = '';
  const io: Io = { ...processIo, out: (more) => void (text += more), err: (more) => void (text += more) };
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
    const shared = ['--help', '--config', '--verbose'];
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

describe('the reference of the API', () => {
  it('documents each error code, and no other', () => {
    const documented = [...section(api, 'Errors').matchAll(/^\| `(RS_\w+)` +\| \S/gm)].map(([, code]) => code);
    expect(documented).toEqual(Object.keys(errorCodes));
  });
});
