import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manual, root } from './manual.js';

const help = join(root, 'test/cli/golden/help');
const helpFiles = new Set(readdirSync(help));

/** Every `runsheet …` that the manual tells to type, from blocks for a shell and from what it shows of one. */
const commands = manual().flatMap(({ path, blocks }) =>
  blocks
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap(({ line, language, text }) =>
      text
        .split('\n')
        .map((each, index): [string, string] => [`${path}:${line + index}`, each])
        .filter(([, each]) => language === 'sh' || each.startsWith('$ '))
        .flatMap(([place, each]) =>
          [...each.matchAll(/(?:^|[\s(&])(?:npx )?runsheet ([^)&|#]*)/g)].map(([, command = '']): [string, string] => [
            place,
            command.trim(),
          ]),
        ),
    ),
);

/** The words of a command, with what is quoted as one. */
function wordsOf(command: string): string[] {
  return command.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
}

describe('commands in the manual', () => {
  it('are there', () => expect(commands.length).toBeGreaterThan(30));

  it.each(commands)('%s: runsheet %s', (_place, command) => {
    const words = wordsOf(command);
    const [first = '', second = ''] = words;
    if (first.startsWith('--')) return expect(['--help', '--version']).toContain(first);
    const file = [`${first}-${second}.txt`, `${first}.txt`].find((name) => helpFiles.has(name));
    expect(file, 'a command that there is').toBeDefined();
    const text = readFileSync(join(help, file ?? ''), 'utf8');
    for (const word of words) {
      const option = /^(--[\w-]+|-\w)(?:=|$)/.exec(word)?.[1];
      if (option !== undefined) expect(text, 'an option of it').toMatch(new RegExp(`(^|\\s)${option}(\\s|,|$)`, 'm'));
    }
  });
});
