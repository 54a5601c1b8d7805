// `npm run generate`: THIRD-PARTY.md, from package-lock.json. Part of it is written by hand: what a licence asks for.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The packages that are installed with Runsheet, those that only other packages need among them. */
export function thirdPartyNotices() {
  const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'));
  const rows = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version, license }]) => [
      path.slice(path.lastIndexOf('node_modules/') + 13),
      version,
      license ?? '?',
    ]);
  const direct = packages[''].dependencies;
  const isDirect = ([name]) => Object.hasOwn(direct, name);
  return [
    '# Third-party software',
    '',
    'Runsheet is under the [Apache-2.0](LICENSE) licence. npm installs these packages with it, each under its own licence, whose text is in its folder below `node_modules`. No part of them is copied into Runsheet.',
    '',
    '[elkjs](https://github.com/kieler/elkjs), which lays out the pictures of `runsheet graph --format svg`, is under EPL-2.0 (or GPL-3.0-or-later, at your choice). Runsheet uses it unchanged, as a separate package that is loaded only for that command. Whoever passes on a product with `elkjs` in it has to say where its source is: at that address.',
    '',
    '## Used by Runsheet',
    '',
    ...table(rows.filter(isDirect)),
    '',
    '## Used by these',
    '',
    ...table(rows.filter((row) => !isDirect(row))),
    '',
  ].join('\n');
}

function table(rows) {
  const all = [['package', 'version', 'licence'], ...rows.sort(([a], [b]) => (a < b ? -1 : 1))];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row, fill = ' ') => `| ${row.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`;
  const [head, ...others] = all;
  return [line(head), line(['', '', ''], '-'), ...others.map((row) => line(row))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${root}/THIRD-PARTY.md`, thirdPartyNotices());
