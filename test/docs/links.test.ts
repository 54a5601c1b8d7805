import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Page, manual, prose, root, target } from './manual.js';

const pages = manual();
const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;

/** Files that a page lets its reader make. */
function madeOn(page: Page): ReadonlySet<string | undefined> {
  return new Set(page.blocks.map(({ file }) => file));
}

/** What commands of the project make, and git leaves alone. */
const madeByCommands = readFileSync(join(root, '.gitignore'), 'utf8').split('\n');

function exists(path: string): boolean {
  // `templates/project` is what `init` makes.
  const places = ['', 'src', 'templates/project'].map((folder) => join(root, folder, path));
  return places.some((place) => existsSync(place)) || madeByCommands.includes(path);
}

/** `Some heading` → `some-heading`, as code forges do. */
function anchors({ text }: Page): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const folders =
  'src|test|docs|schemas|definitions|handlers|scripts|bench|bin|\\.ci|common|syntax|expression|interpreter|storage|engine|cli';
const pathLike = new RegExp(`\`((?:${folders})/[\\w./-]+)\``, 'g');

describe.each(pages.map((page): [string, Page] => [page.path, page]))('%s', (_path, page) => {
  it('links to what exists', () => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const path = link.startsWith('#') ? page.path : target(page, link);
      if (!existsSync(join(root, path))) return true;
      const [, anchor] = link.split('#');
      const other = pages.find((each) => each.path === path);
      return anchor !== undefined && other !== undefined && !anchors(other).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names paths that exist', () => {
    const made = madeOn(page);
    const named = [...prose(page).matchAll(pathLike)].map(([, path = '']) => path);
    expect(named.filter((path) => !made.has(path) && !exists(path))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const named = [...page.text.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});
