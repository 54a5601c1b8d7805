import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project } from './project.js';
import { startCommand } from './running-command.js';

const command = builtCommand();

const flow = 'workflow: f\nsteps: [{ id: got, step: get }]\noutput: =$steps.got\n';
const tests = (output: string): string =>
  `workflow: ./f.yaml\ntests: [{ name: gets, handlers: real, expect: { output: ${output} } }]\n`;
const handler = (value: string): string => `export default { name: 'get', run: () => ${JSON.stringify(value)} };\n`;

describe('runsheet test', () => {
  it('--watch runs tests again when a test, or a handler, is changed', async () => {
    const files = new Project({
      'definitions/f.yaml': flow,
      'definitions/f.test.yaml': tests('one'),
      'handlers/get.mjs': handler('one'),
    });
    const watching = startCommand(command, files, ['test', '--watch']);
    await watching.told('1 test, all passed\nwatching for changes; Ctrl-C ends\n', 1);
    files.write('definitions/f.test.yaml', tests('two'));
    await watching.told('1 test, 1 failed\nwatching for changes; Ctrl-C ends\n', 1);
    files.write('handlers/get.mjs', handler('two'));
    await watching.told('1 test, all passed\nwatching for changes; Ctrl-C ends\n', 2);
    watching.child.kill('SIGINT');
    expect(await watching.ended).toMatchObject({ code: 130 });
  });

  it('runs many files in threads, and tells of them in their order', async () => {
    const work = "export default { name: 'get', run: () => new Promise((done) => setTimeout(done, 300, 'one')) };\n";
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const files = new Project({
      'definitions/f.yaml': flow,
      'handlers/get.mjs': work,
      ...Object.fromEntries(names.map((name) => [`definitions/${name}.test.yaml`, tests('one')])),
    });
    const { ended } = startCommand(command, files, ['test', '--json', '--coverage']);
    const { code, out } = await ended;
    expect(code).toBe(0);
    const { tests: run, coverage } = JSON.parse(out) as { tests: { file: string }[]; coverage: object[] };
    expect(run.map(({ file }) => file)).toEqual(names.map((name) => `definitions/${name}.test.yaml`));
    expect(coverage).toMatchObject([{ workflow: 'f', file: 'definitions/f.yaml', percent: 100, total: 1 }]);
  });
});
