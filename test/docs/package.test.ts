import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { thirdPartyNotices } from '../../scripts/third-party.js';

it('names all packages that are installed with it, with their licences (npm run generate)', () => {
  expect(thirdPartyNotices()).toBe(readFileSync('THIRD-PARTY.md', 'utf8'));
});

it('has no package of a licence that nobody has looked at', () => {
  const known = [
    'MIT',
    'ISC',
    'Apache-2.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    '(MIT OR WTFPL)',
    '(BSD-2-Clause OR MIT OR Apache-2.0)',
    'EPL-2.0 OR GPL-3.0-or-later',
  ];
  const licences = [...readFileSync('THIRD-PARTY.md', 'utf8').matchAll(/^\|.*\| ([^|]*?) *\|$/gm)].map(
    ([, last]) => last,
  );
  expect(licences.length).toBeGreaterThan(20);
  expect(
    licences.filter((licence) => ![...known, 'licence'].includes(licence ?? '') && !/^-+$/.test(licence ?? '')),
  ).toEqual([]);
});

it('has no source maps, whose sources are not in the package', () => {
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as {
    compilerOptions: Record<string, unknown>;
  };
  expect(compilerOptions).not.toMatchObject({ sourceMap: true });
  expect(compilerOptions).not.toMatchObject({ declarationMap: true });
});
