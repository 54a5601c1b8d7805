import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const good = 'workflow: good\nsteps:\n  - step: note\n    with: { text: hi }\noutput: =$steps.note.text\n';
const bad =
  'workflow: bad\nstepz: []\nsteps:\n  - id: a\n    set: { r: =$round($input.x, 2) }\n  - id: a\n    set: 1\n    set: 2\n';

const flowTest = `workflow: good
tests:
  - name: says hi
    handlers: { note: { returns: { text: hi } } }
    expect: { output: hi }
`;

describe('runsheet validate', () => {
  it('is content with flows that are fine: exit code 0, nothing on stdout', async () => {
    const project = new Project({ 'definitions/good.yaml': good, 'handlers/note.ts': notingHandlers });
    expect(await project.runsheet(['validate', 'definitions/good.yaml'])).toEqual({
      code: 0,
      out: '',
      err: '1 flow checked, no problems\n',
    });
  });

  it('shows file, line, column, carets and remedy of each mistake on stdout: exit code 1', async () => {
    const project = new Project({
      'definitions/bad.yaml': 'workflow: bad\nsteps:\n  - id: a\n    set: 1\n    set: 2\n',
    });
    const { code, out, err } = await project.runsheet(['validate', 'definitions/bad.yaml', '--no-handlers']);
    expect(code).toBe(1);
    expect(out).toBe(
      [
        'definitions/bad.yaml:5:5: error RS1009: the key `set` stands twice in one map, in line 4 and in line 5',
        '  5 |     set: 2',
        '    |     ^^^',
        '  help: remove or rename one of the two',
        '',
      ].join('\n'),
    );
    expect(err).toBe('1 flow checked, 1 error\n');
  });

  it('gives JSON with --format json and with --json', async () => {
    const project = new Project({ 'bad.yaml': bad });
    const { code, out } = await project.runsheet(['validate', 'bad.yaml', '--format', 'json', '--no-handlers']);
    expect(code).toBe(1);
    const { version, diagnostics } = JSON.parse(out) as { version: number; diagnostics: Record<string, unknown>[] };
    expect(version).toBe(1);
    expect(diagnostics.map((each) => each.code)).toEqual(['RS2003', 'RS1019', 'RS4005', 'RS1009']);
    expect(diagnostics[1]).toEqual({
      file: 'bad.yaml',
      line: 5,
      column: 15,
      endLine: 5,
      endColumn: 35,
      severity: 'error',
      code: 'RS1019',
      message: 'inside `{ … }` or `[ … ]` YAML cuts an unquoted formula up at its own commas, colons and brackets',
      help: "quote it: '=$round($input.x, 2)'\nor write the collection in block style, one entry a line",
    });
    expect((await project.runsheet(['validate', 'bad.yaml', '--json', '--no-handlers'])).out).toBe(out);
  });

  it('takes the flows and tests of a folder, without sample inputs, and files in any number', async () => {
    const project = new Project({
      'flows/a.yaml': good,
      'flows/b.yml': good.replace('good', 'b'),
      'flows/c.json': JSON.stringify({ workflow: 'c', steps: [] }),
      'flows/a.test.yaml': flowTest,
      'flows/a.input.json': '{}',
      'flows/readme.txt': 'text',
      'd.yaml': 'workflow: d\nsteps: []\n',
    });
    const { code, err } = await project.runsheet(['validate', 'flows', 'd.yaml', '--no-handlers']);
    expect({ code, err }).toEqual({ code: 0, err: '4 flows and 1 flow test checked, no problems\n' });
  });

  it('reads stdin for -', async () => {
    const project = new Project();
    const { code, out } = await project.runsheet(['validate', '-', '--no-handlers'], { stdin: 'workflow: "open\n' });
    expect(code).toBe(1);
    expect(out).toContain('<stdin>:1:11: error RS1001: the quote that opens here is never closed');
  });

  it('says once that handlers were not checked where there is no folder of them', async () => {
    const project = new Project({ 'definitions/good.yaml': good, 'definitions/other.yaml': good.replace('good', 'o') });
    const { code, err } = await project.runsheet(['validate']);
    expect(code).toBe(0);
    expect(err).toBe(
      'note: there is no folder `handlers` here, so handlers were not checked; --handlers names another\n' +
        '2 flows checked, no problems\n' +
        'note: flows without a test: definitions/good.yaml, definitions/other.yaml\n',
    );
  });

  it('checks handlers where there are some', async () => {
    const project = new Project({
      'f.yaml': good.replace('step: note', 'id: note\n    step: notte'),
      'h.ts': notingHandlers,
    });
    const { code, out } = await project.runsheet(['validate', 'f.yaml', '--handlers', 'h.ts']);
    expect(code).toBe(1);
    expect(out).toContain('f.yaml:4:11: error RS4');
    expect(out).toContain('`note`');
  });

  it('fails on more warnings than allowed', async () => {
    const project = new Project({ 'f.yaml': 'workflow: f\nsteps:\n  - set: { a: no, b: 1.10 }\n' });
    const allowed = await project.runsheet(['validate', 'f.yaml', '--no-handlers', '--max-warnings', '2']);
    expect(allowed.code).toBe(0);
    expect(allowed.err).toBe('1 flow checked, 2 warnings\n');
    const refused = await project.runsheet(['validate', 'f.yaml', '--no-handlers', '--max-warnings', '1']);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('error: 2 warnings, and --max-warnings allows 1');
  });

  it('answers 4 for a path that is not there, 2 for wrong usage', async () => {
    const project = new Project({ 'empty/readme.txt': '' });
    expect(await project.runsheet(['validate', 'nosuch.yaml'])).toMatchObject({
      code: 4,
      err: 'error: there is no nosuch.yaml; give the path of a flow or of a folder of flows\n',
    });
    expect((await project.runsheet(['validate', 'empty'])).code).toBe(4);
    expect((await project.runsheet(['validate', '--format', 'xml'])).code).toBe(2);
    expect((await project.runsheet(['validate', '--max-warnings', 'few'])).code).toBe(2);
  });

  it('colours on a terminal only, and never with NO_COLOR', async () => {
    const project = new Project({ 'f.yaml': 'a: 1\na: 2\n' });
    const args = ['validate', 'f.yaml', '--no-handlers'];
    expect((await project.runsheet(args, { isTerminal: true })).out).toContain('\u001b[31m');
    expect((await project.runsheet(args, { isTerminal: true, env: { NO_COLOR: '1' } })).out).not.toContain('\u001b');
    expect((await project.runsheet(args)).out).not.toContain('\u001b');
  });

  it('checks what comes on stdin as the file that it is to become', async () => {
    const project = new Project({
      'flows/parent.yaml': 'workflow: parent\nsteps: []\n',
      'flows/child.yaml': 'workflow: child\nsteps: []\n',
    });
    const stdin = 'workflow: parent\nsteps:\n  - subWorkflow: child\n  - sleep: 5\n';
    const args = ['validate', '-', '--no-handlers', '--stdin-filename', 'flows/parent.yaml'];
    const { code, out, err } = await project.runsheet(args, { stdin });
    expect({ code, err }).toEqual({ code: 1, err: '1 flow checked, 1 error\n' });
    expect(out).toMatch(/^flows\/parent\.yaml:4:\d+: error RS2013: /);
    const usage = await project.runsheet(['validate', 'flows', '--stdin-filename', 'x.yaml']);
    expect(usage).toMatchObject({ code: 2, err: expect.stringContaining('give the path - with it') });
  });

  it('takes a child that is nowhere for a mistake, and for a suspicion where there are no definitions to look in', async () => {
    const parent = 'workflow: parent\nsteps:\n  - subWorkflow: chld\n';
    const child = 'workflow: child\nsteps: []\n';
    const project = new Project({ 'definitions/parent.yaml': parent, 'definitions/child.yaml': child });
    const whole = await project.runsheet(['validate', '--no-handlers']);
    expect(whole.code).toBe(1);
    expect(whole.out).toContain('definitions/parent.yaml:3:18: error RS4022: there is no workflow "chld"');
    expect(whole.out).toContain('did you mean `child`?');
    const alone = new Project({ 'parent.yaml': parent });
    const { code, out } = await alone.runsheet(['validate', 'parent.yaml', '--no-handlers']);
    expect(code).toBe(0);
    expect(out).toContain('parent.yaml:3:18: warning RS4022: there is no workflow "chld"');
  });

  it('reports two files that are the same revision of a workflow, with both places', async () => {
    const project = new Project({
      'flows/a.yaml': '# one\nworkflow: pay\nsteps: []\n',
      'flows/b.yaml': 'workflow: pay\nsteps:\n  - set: 1\n',
      'flows/c.yaml': 'workflow: pay\nrevision: 2\nsteps: []\n',
      'flows/copy-of-a.yaml': 'workflow: pay\nsteps: []\n',
    });
    const { code, out } = await project.runsheet(['validate', 'flows', '--no-handlers']);
    expect(code).toBe(1);
    expect(out).toBe(
      [
        'flows/b.yaml:1:11: error RS4050: revision 1 of `pay` is also in flows/a.yaml:2, with other content',
        '  1 | workflow: pay',
        '    |           ^^^',
        '  help: give the newer one a higher `revision`, or one of them another name',
        '',
      ].join('\n'),
    );
  });

  it('names at the end handlers that no flow calls and flows without a test, where it looked at all', async () => {
    const project = new Project({
      'definitions/good.yaml': good,
      'definitions/good.test.yaml': flowTest,
      'definitions/other.yaml': good.replace('workflow: good', 'workflow: other'),
      'handlers/all.ts': notingHandlers,
    });
    const { code, err } = await project.runsheet(['validate']);
    expect({ code, err }).toEqual({
      code: 0,
      err:
        '2 flows and 1 flow test checked, no problems\n' +
        'note: handlers never used: fail, hold, refuse, unless-mended; flows without a test: definitions/other.yaml\n',
    });
  });

  it('tells the mistakes of a flow once, not again at its test; at the test alone where only that is checked', async () => {
    const project = new Project({
      'definitions/good.yaml': good.replace('step: note', 'step: nota'),
      'definitions/good.test.yaml': flowTest,
      'handlers/all.ts': notingHandlers,
    });
    const codesOf = async (...paths: string[]): Promise<string[]> => {
      const { out } = await project.runsheet(['validate', '--json', ...paths]);
      return (JSON.parse(out) as { diagnostics: { code: string }[] }).diagnostics.map(({ code }) => code);
    };
    expect(await codesOf()).not.toContain('RS6021');
    expect(await codesOf()).toContain('RS4007');
    expect(await codesOf('definitions/good.test.yaml')).toEqual(['RS6021']);
  });

  it('knows children among the paths, beside them and among the definitions', async () => {
    const parent = 'workflow: parent\nsteps:\n  - subWorkflow: kid\n  - subWorkflow: cousin\n  - subWorkflow: broken\n';
    const project = new Project({
      'flows/parent.yaml': parent,
      'flows/kid.yaml': 'workflow: kid\nsteps: []\n',
      'flows/broken.yaml': 'workflow: broken\nsteps:\n  - sleep: 5\n',
      'definitions/cousin.yaml': 'workflow: cousin\nsteps: []\n',
    });
    const args = ['validate', 'flows/parent.yaml', '--no-handlers'];
    expect(await project.runsheet(args)).toMatchObject({ code: 0, out: '' });
    project.write('flows/parent.yaml', parent.replace('cousin', 'cuosin'));
    const { code, out } = await project.runsheet(args);
    expect(code).toBe(1);
    expect(out).toMatch(/^flows\/parent\.yaml:4:18: error RS4\d+: [^]*cousin/);
  });

  it('only warns of a child that is nowhere, where there is no folder of definitions', async () => {
    const project = new Project({ 'parent.yaml': 'workflow: parent\nsteps:\n  - subWorkflow: elsewhere\n' });
    const { code, out } = await project.runsheet(['validate', 'parent.yaml', '--no-handlers']);
    expect(code).toBe(0);
    expect(out).toMatch(/^parent\.yaml:3:18: warning RS4/);
    const given = ['validate', 'parent.yaml', '--no-handlers', '--definitions', '.'];
    expect((await project.runsheet(given)).code).toBe(1);
  });
});
