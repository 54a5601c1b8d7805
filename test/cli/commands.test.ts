import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

describe('runsheet', () => {
  it('prints its version and its help', async () => {
    const project = new Project();
    expect(await project.runsheet(['--version'])).toMatchObject({ code: 0, out: '0.1.0\n' });
    const { code, out } = await project.runsheet(['--help']);
    expect(code).toBe(0);
    for (const command of 'validate hash handlers run signal cancel resume compensation list show'.split(' '))
      expect(out).toContain(`  ${command} `);
  });

  it.each([
    [[]],
    [['frob']],
    [['hash']],
    [['hash', 'a', 'b']],
    [['list', '--status', 'done']],
    [['list', '--limit', '0']],
  ])('answers 2 for wrong usage: %j', async (args) => {
    const { code, out, err } = await new Project().runsheet(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
  });

  it('loads nothing but commander before a command needs it', () => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, 'utf8');
      for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)) {
        if (specifier.startsWith('.')) visit(join(dirname(file), specifier.replace(/\.js$/, '.ts')));
        else packages.add(specifier);
      }
    };
    visit(fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url)));
    expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['commander']);
    const loaded = [...seen].map((file) => file.slice(file.indexOf('/src/')));
    expect(loaded).toContain('/src/cli/index.ts');
    expect(loaded.filter((file) => !/^\/src\/(common|cli)\/[\w-]+\.ts$/.test(file))).toEqual([]);
  });
});

describe('runsheet hash', () => {
  const yaml = 'workflow: pay\nrevision: 2\nsteps:\n  - id: a\n    set: { x: 1, y: [a, b] }\n';

  it('is the same however the flow is written, and as JSON; another for another meaning', async () => {
    const project = new Project({
      'a.yaml': yaml,
      'b.yaml':
        "# reordered\nsteps:\n- set:\n    y: ['a', \"b\"]\n    x: 1 # one\n  id: a\nrevision: 2\nworkflow: 'pay'\n",
      'c.json': JSON.stringify({ workflow: 'pay', revision: 2, steps: [{ id: 'a', set: { y: ['a', 'b'], x: 1 } }] }),
      'd.yaml': yaml.replace('x: 1', 'x: 2'),
    });
    const { code, out } = await project.runsheet(['hash', 'a.yaml']);
    expect(code).toBe(0);
    expect(out).toMatch(/^[0-9a-f]{64} pay 2\n$/);
    expect((await project.runsheet(['hash', 'b.yaml'])).out).toBe(out);
    expect((await project.runsheet(['hash', 'c.json'])).out).toBe(out);
    expect((await project.runsheet(['hash', '-'], { stdin: yaml })).out).toBe(out);
    expect((await project.runsheet(['hash', 'd.yaml'])).out).not.toBe(out);
    expect(JSON.parse((await project.runsheet(['hash', 'a.yaml', '--json'])).out)).toEqual({
      version: 1,
      hash: out.slice(0, 64),
      name: 'pay',
      revision: 2,
    });
  });

  it('answers 3 for an invalid flow, its mistakes on stderr', async () => {
    const project = new Project({ 'f.yaml': 'workflow: f\nworkflow: g\nsteps: []\n' });
    const { code, out, err } = await project.runsheet(['hash', 'f.yaml']);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('f.yaml:2:1: error RS1009');
    expect(err).toContain('error: f.yaml has 1 mistake, so nothing was done');
  });
});

describe('runsheet handlers', () => {
  it('lists what there is', async () => {
    const project = new Project({ 'handlers/all.ts': notingHandlers });
    const { code, out } = await project.runsheet(['handlers']);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'fail',
        '  takes   anything',
        '  gives   anything',
        '',
        'hold',
        '  takes   anything',
        '  gives   anything',
        '',
        'note - Notes a text and gives it back.',
        '  takes   anything',
        '  gives   anything',
        '',
        'refuse',
        '  takes   anything',
        '  gives   anything',
        '  throws  Refused',
        '',
        'unless-mended',
        '  takes   anything',
        '  gives   anything',
        '',
      ].join('\n'),
    );
    const json = JSON.parse((await project.runsheet(['handlers', '--json'])).out) as { handlers: { name: string }[] };
    expect(json).toMatchObject({ version: 1 });
    expect(json.handlers.map(({ name }) => name)).toEqual(['fail', 'hold', 'note', 'refuse', 'unless-mended']);
  });

  it('shows schemas as types', async () => {
    const project = new Project({
      'handlers/typed.ts': `
        import { z } from '${import.meta.resolve('zod')}';
        import { defineHandler } from 'runsheet';
        enum Kind { Small = 'small', Large = 'large' }
        export default defineHandler({
          name: 'typed',
          input: z.object({ kind: z.enum(Kind), tags: z.array(z.string()).optional(), of: z.record(z.string(), z.int()) }),
          output: z.union([z.null(), z.object({ ok: z.literal(true) })]),
          run: () => null,
        });`,
    });
    const { out } = await project.runsheet(['handlers']);
    expect(out).toBe(
      [
        'typed',
        '  takes   { kind: "small" | "large", tags?: list of string, of: { …: integer } }',
        '  gives   null | { ok: true }',
        '',
      ].join('\n'),
    );
  });

  it('answers 3 for a handler that cannot be loaded, without a stack unless --verbose', async () => {
    const project = new Project({ 'handlers/broken.ts': 'throw new Error("boom");\n' });
    const quiet = await project.runsheet(['handlers']);
    expect(quiet.code).toBe(3);
    expect(quiet.err).toContain('the module throws while it is loaded (Error: boom)');
    expect(quiet.err).not.toContain('\n    at ');
    expect((await project.runsheet(['handlers', '--verbose'])).err).toContain('\n    at ');
    expect((await new Project().runsheet(['handlers'])).code).toBe(3);
  });
});
