import { describe, expect, it } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';
import { readFlowTest } from '../../src/testing/flow-tests/index.js';
import { type Block, type Page, manual } from './manual.js';

const blocks = manual().flatMap((page) =>
  page.path === 'docs/reference/diagnostics.md'
    ? []
    : page.blocks
        .filter(({ language, text }) => language === 'yaml' && /^workflow:/m.test(text))
        .map((block): [string, Page, Block] => [`${page.path}:${block.line}`, page, block]),
);
const isFlowTest = ([, , { text }]: [string, Page, Block]): boolean => /^tests:/m.test(text);
const flows = blocks.filter((block) => !isFlowTest(block));
const flowTests = blocks.filter(isFlowTest);

describe('flows in the manual', () => {
  it('are there', () => expect(flows.length).toBeGreaterThanOrEqual(5));

  it.each(flows)('%s has no mistake and no warning', (name, _page, block) => {
    const source = new Source(name, block.text);
    const { definition, diagnostics } = checkSource(source);
    expect(renderDiagnostics(diagnostics, source, { color: false })).toBe('');
    expect(definition?.name).toMatch(/^[a-z-]+$/);
  });
});

describe('flow tests in the manual', () => {
  it.each(flowTests)('%s has no mistake and no warning', (name, _page, block) => {
    const source = new Source(name, block.text);
    expect(renderDiagnostics(readFlowTest(source).diagnostics, source, { color: false })).toBe('');
  });
});
