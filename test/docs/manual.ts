import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A page of the manual, by its path from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** A fenced block. */
export interface Block {
  /** 1-based line of its first line of content. */
  readonly line: number;
  /** What stands after the opening fence: `yaml`, `ts`. */
  readonly language: string;
  readonly text: string;
  /** The path in the paragraph before it, where that says which file it is (`handlers/files.ts`:). */
  readonly file: string | undefined;
}

/** All pages for people, the diagnostics apart: their blocks are parts of flows, wrong on purpose. */
export function manual(): Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort();
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs].map(page);
}

export function page(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  let paragraph = '';
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const opening = /^```(.*)$/.exec(line);
    if (opening === null) {
      if (line.trim() !== '') paragraph = line;
      continue;
    }
    const end = lines.indexOf('```', index + 1);
    if (end < 0) throw new Error(`the block that begins at line ${index + 1} is never closed`);
    const file = /`([\w./-]+\.\w+)`:$/.exec(paragraph)?.[1];
    const content = `${lines.slice(index + 1, end).join('\n')}\n`;
    blocks.push({ line: index + 2, language: opening[1] ?? '', text: content, file });
    index = end;
    paragraph = '';
  }
  return blocks;
}

/** The text outside fenced blocks. */
export function prose({ text }: Page): string {
  return text.replace(/^```[^\n]*\n[\s\S]*?^```$/gm, '');
}

/** The part of a page from a heading (its beginning, after the #) to the next of the same or a higher level. */
export function section({ path, text }: Page, heading: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.replace(/^#+ /, '').startsWith(heading) && line.startsWith('#'));
  if (start < 0) throw new Error(`${path} has no section ${heading}`);
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0;
  const end = lines.findIndex((line, index) => index > start && new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(start, end < 0 ? undefined : end).join('\n');
}

/** What a link of a page leads to, from the root of the repository, without its anchor. */
export function target(from: Page, link: string): string {
  return relative(root, join(root, dirname(from.path), link.replace(/#.*$/, '')));
}
