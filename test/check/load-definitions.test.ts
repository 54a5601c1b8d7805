import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { InvalidDefinitionsError, loadDefinitions } from '../../src/check/index.js';

describe('loading definitions', () => {
  let folder: string;
  const put = (name: string, text: string | Buffer): void => writeFileSync(join(folder, name), text);
  const failure = async (...args: Parameters<typeof loadDefinitions>): Promise<InvalidDefinitionsError> => {
    const error: unknown = await loadDefinitions(...args).catch((reason: unknown) => reason);
    if (error instanceof InvalidDefinitionsError) return error;
    throw error;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-definitions-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('takes the flows directly in a folder, by name, and nothing else', async () => {
    put('b.yaml', 'workflow: second\nsteps: []\n');
    put('a.yml', 'workflow: first\nsteps: []\n');
    put('c.json', '{ "workflow": "third", "revision": 4, "steps": [] }');
    put('a.test.yaml', 'tests: []\n');
    put('a.input.json', '{}');
    put('notes.md', '# Notes\n');
    mkdirSync(join(folder, 'd.yaml'));
    const definitions = await loadDefinitions(folder);
    expect(definitions.map(({ name, revision }) => [name, revision])).toEqual([
      ['first', 1],
      ['second', 1],
      ['third', 4],
    ]);
    expect(definitions[0]?.source?.name).toBe(join(folder, 'a.yml'));
  });

  test('takes a single file', async () => {
    put('a.yaml', 'workflow: first\nsteps: []\n');
    expect(await loadDefinitions(join(folder, 'a.yaml'))).toHaveLength(1);
  });

  test('tells the mistakes of all files at once', async () => {
    put('a.yaml', 'workflow: first\nsteps:\n  - stpe: mail.send\n');
    put('b.yaml', 'workflow: second\nsteps:\n  - set: =$foo\n  - set: =$input.x\n');
    put('c.yaml', 'workflow: third\nsteps: []\n');
    const error = await failure(folder);
    expect(error.code).toBe('RS_DEFINITION_INVALID');
    expect(error.findings.map(({ source }) => source.name)).toEqual([join(folder, 'a.yaml'), join(folder, 'b.yaml')]);
    expect(error.diagnostics.map(({ code }) => code)).toEqual(['RS2007', 'RS3002', 'RS4006']);
    expect(error.message).toContain(`${join(folder, 'a.yaml')}:3:5: RS2007: \`stpe\` is no verb`);
  });

  test('checks handlers where it is told which there are', async () => {
    put('a.yaml', 'workflow: first\nsteps:\n  - step: mail.send\n');
    expect(await loadDefinitions(folder)).toHaveLength(1);
    const error = await failure(folder, { handlers: new Map([['mail.sent', { name: 'mail.sent' }]]) });
    expect(error.diagnostics.map(({ code, help }) => [code, help])).toEqual([['RS4007', 'did you mean `mail.sent`?']]);
  });

  test('a file that is not UTF-8 is a mistake of that file', async () => {
    put('a.yaml', Buffer.from([0x77, 0xff, 0xfe]));
    expect((await failure(folder)).diagnostics.map(({ code }) => code)).toEqual(['RS1006']);
  });

  test('a path that does not exist, or holds no flow, is said', async () => {
    await expect(loadDefinitions(join(folder, 'nowhere'))).rejects.toThrow(/cannot be read.*nowhere/);
    await expect(loadDefinitions(folder)).rejects.toMatchObject({ code: 'RS_OPTIONS_INVALID' });
  });
});
