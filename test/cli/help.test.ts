import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/index.js';
import { processIo } from '../../src/cli/io.js';
import { Project } from './project.js';

async function helpOf(words: readonly string[], surroundings = {}): Promise<string> {
  const { code, out, err } = await new Project().runsheet([...words, '--help'], surroundings);
  expect({ words, code, err }).toEqual({ words, code: 0, err: '' });
  return out;
}

/** The names under `Commands:`, whatever wraps over lines. */
function commandsIn(help: string): string[] {
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(help) ?? [];
  return [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
}

/** All commands, at any depth, each as its words. */
async function allCommands(words: readonly string[] = []): Promise<string[][]> {
  let help = '';
  await main(['node', 'runsheet', ...words, '--help'], {
    ...processIo,
    outIsTerminal: false,
    out: (text) => void (help += text),
  });
  const found: string[][] = [];
  for (const name of commandsIn(help)) found.push([...words, name], ...(await allCommands([...words, name])));
  return found;
}

const commands = await allCommands();

describe('help', () => {
  it('names all commands', async () => {
    expect(commands.length).toBeGreaterThan(25);
    await expect(await helpOf([])).toMatchFileSnapshot('golden/help/runsheet.txt');
  });

  it.each(commands.map((words): [string, string[]] => [words.join(' '), words]))('of %s', async (name, words) => {
    const help = await helpOf(words);
    await expect(help).toMatchFileSnapshot(`golden/help/${name.replaceAll(' ', '-')}.txt`);
    // Two examples, save where there are commands inside alone.
    const isGroup = name === 'compensation';
    expect(help.match(/^ {2}\$ runsheet /gm) ?? []).toHaveLength(isGroup ? 0 : 2);
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('fits a narrow terminal', async () => {
    const help = await helpOf(['run'], { isTerminal: true, size: { columns: 60, rows: 24 } });
    await expect(help).toMatchFileSnapshot('golden/help/run.60-columns.txt');
    const [text = ''] = help.split('\nExamples:');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });

  it('offers what was meant, and ends with 2', async () => {
    const project = new Project();
    const typos = [
      ['valdiate'],
      ['run'],
      ['run', 'x', '--inptu', '{}'],
      ['validate', '--format', 'xml'],
      ['compensation', 'resum', 'x'],
      ['schedules', 'nosuch'],
      ['diff', 'a', 'b', 'c'],
      ['run', 'x', '--timeout', 'soon'],
    ];
    let text = '';
    for (const words of typos) {
      const { code, out, err } = await project.runsheet(words);
      text += `$ runsheet ${words.join(' ')}\n${out}${err}exit ${code}\n\n`;
    }
    await expect(text).toMatchFileSnapshot('golden/help/typos.txt');
    expect(text.match(/^exit 2$/gm)).toHaveLength(typos.length);
  });
});
