import { describe, expect, it } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';
import { type Block, type Page, manual } from './manual.js';

const flows = manual().flatMap((page) =>
  page.path === 'docs/reference/diagnostics.md'
    ? []
    : page.blocks
        .filter(({ language, text }) => language === 'yaml' && /^workflow:/m.test(text))
        .map((block): [string, Page, Block] => [`${page.path}:${block.line}`, page, block]),
);

describe('flows in the manual', () => {
  it('are there', () => expect(flows.length).toBeGreaterThanOrEqual(5));

  it.each(flows)('%s has no mistake and no warning', (name, _page, block) => {
    const source = new Source(name, block.text);
    const { definition, diagnostics } = checkSource(source);
    expect(renderDiagnostics(diagnostics, source, { color: false })).toBe('');
    expect(definition?.name).toMatch(/^[a-z-]+$/);
  });
});
