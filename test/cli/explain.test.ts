import { describe, expect, it } from 'vitest';
import { diagnosticEntries } from '../../src/cli/diagnostic-entry.js';
import { diagnosticCodes } from '../../src/syntax/index.js';
import { Project } from './project.js';

describe('runsheet explain', () => {
  it('says what a code means, with a wrong and a right example', async () => {
    const project = new Project();
    const { code, out, err } = await project.runsheet(['explain', 'RS2013']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^error RS2013: A duration has no unit\n\n/);
    expect(out).toMatch(/\n\nwrong\n\n {4}\S[^]*\n\nright\n\n {4}\S/);
    expect(out).not.toContain('```');
    expect((await project.runsheet(['explain', '2013'])).out).toBe(out);
    expect((await project.runsheet(['explain', 'rs2013'])).out).toBe(out);
    await expect(out).toMatchFileSnapshot('fixtures/explain.txt');
  });

  it('colours on a terminal', async () => {
    const { out } = await new Project().runsheet(['explain', 'RS4010'], { isTerminal: true });
    expect(out).toMatch(/^\u001b\[33mwarning RS4010\u001b\[0m/);
  });

  it('gives JSON', async () => {
    const { out } = await new Project().runsheet(['explain', 'RS4010', '--json']);
    const { version, severity, wrong } = JSON.parse(out) as Record<string, unknown>;
    expect({ version, severity }).toEqual({ version: 1, severity: 'warning' });
    expect(wrong).toContain('forEach');
  });

  it('names the nearest codes for one that is not there', async () => {
    const { code, out, err } = await new Project().runsheet(['explain', 'RS2039']);
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toMatch(/^error: there is no diagnostic RS2039; the nearest are RS\d{4}, RS\d{4}/);
    expect((await new Project().runsheet(['explain', 'nonsense'])).err).toContain('codes look like RS2013');
  });

  it('knows every code, each with a meaning and its title', () => {
    const entries = diagnosticEntries();
    expect([...entries.keys()]).toEqual(Object.keys(diagnosticCodes).sort());
    for (const [code, title] of Object.entries(diagnosticCodes)) {
      expect(entries.get(code)).toMatchObject({ title, meaning: expect.stringMatching(/\w{3}/) as unknown });
    }
  });
});
