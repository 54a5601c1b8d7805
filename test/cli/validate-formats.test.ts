import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { Project } from './project.js';

/** Two files of which one is named unkindly; an error, a warning, a help of two lines, a range over two lines. */
function project(): Project {
  return new Project({
    'flows/a, b:100%.yaml': 'workflow: a\nsteps:\n  - set: { r: =$round($input.x, 2), n: no }\n',
    'flows/good.yaml': 'workflow: good\nsteps: []\n',
    'flows/"quoted" <&>.yaml':
      'workflow: c\nsteps:\n  - step: mail.send\n    timeout: 5\n    with: { text: "<b>&\\u0001" , n: no }\n',
    'flows/z.yaml': 'workflow: z\nsteps:\n  - set: { a: 01234 }\n',
  });
}

const args = ['validate', 'flows', '--no-handlers', '--format'];

describe('runsheet validate --format', () => {
  it('sarif gives a log that the schema of SARIF 2.1.0 accepts', async () => {
    const { code, out, err } = await project().runsheet([...args, 'sarif']);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const log = JSON.parse(out) as unknown;
    const validate = sarifValidator();
    validate(log);
    expect(validate.errors).toBeNull();
    expect(validate({ ...(log as object), runs: [{}] }), 'the schema refuses what is wrong').toBe(false);
    await expect(out.replace(/"semanticVersion": ".*"/, '"semanticVersion": "…"')).toMatchFileSnapshot(
      'fixtures/validate.sarif',
    );
  });

  it('github gives annotations with everything escaped that would end them', async () => {
    const { code, out, err } = await project().runsheet([...args, 'github']);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    for (const line of out.trimEnd().split('\n')) expect(line).toMatch(/^::(error|warning) file=[^:,]*,line=\d+,/);
    expect(out).toContain('file=flows/a%2C b%3A100%25.yaml,');
    await expect(out).toMatchFileSnapshot('fixtures/validate.github.txt');
  });

  it('junit gives a test case for each file', async () => {
    const { code, out, err } = await project().runsheet([...args, 'junit']);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out.match(/<testcase /g)).toHaveLength(4);
    expect(out.match(/<failure /g)).toHaveLength(2);
    expect(out).toContain('<testsuites name="runsheet validate" tests="4" failures="2">');
    expect(out).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f]/);
    await expect(out).toMatchFileSnapshot('fixtures/validate.junit.xml');
  });

  it('json and human give the same as before', async () => {
    await expect((await project().runsheet([...args, 'json'])).out).toMatchFileSnapshot('fixtures/validate.json.txt');
    await expect((await project().runsheet([...args, 'human'])).out).toMatchFileSnapshot('fixtures/validate.txt');
  });

  it.each(['sarif', 'json', 'junit'])('%s says so where nothing is wrong', async (format) => {
    const fine = new Project({ 'flows/good.yaml': 'workflow: good\nsteps: []\n' });
    const { code, out } = await fine.runsheet([...args, format]);
    expect(code).toBe(0);
    if (format === 'sarif')
      expect((JSON.parse(out) as { runs: { results: unknown[] }[] }).runs[0]?.results).toEqual([]);
    if (format === 'json') expect(JSON.parse(out)).toEqual({ version: 1, diagnostics: [] });
    if (format === 'junit') expect(out).toContain('tests="1" failures="0"');
  });
});

/** The schema is of an older draft, from which it uses nothing that has another meaning now. */
function sarifValidator() {
  const { id, ...schema } = createRequire(import.meta.url)(
    '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json',
  ) as {
    id: string;
  };
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  return ajv.compile({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#', $id: id });
}
