import { escaped } from '../common/index.js';

/** A text as one word of a shell. What would steer a terminal is written by its number, as bash and zsh read it. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (escaped(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  const quoted = text.replace(/[\\']|[^\P{C}\u200c\u200d]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped(quoted)}'`;
}
