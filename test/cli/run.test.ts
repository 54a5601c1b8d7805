import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const twoNotes = `
workflow: notes
input:
  who: { type: string, default: eva }
steps:
  - id: first
    step: note
    with: { text: '="hello " & $input.who' }
  - when: false
    id: never
    step: note
    with: { text: never }
  - id: second
    step: note
    with: { text: bye }
output:
  said: '=[$steps.first.text, $steps.second.text]'
`;

function project(files: Record<string, string> = {}): Project {
  return new Project({ 'definitions/notes.yaml': twoNotes, 'handlers/all.ts': notingHandlers, ...files });
}

/** Without times. */
function linesOf(err: string): string[] {
  return err
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replace(/^[\d:.]{12} {2}/, '')
        .replace(/ {2}[\d.]+m?s$/, '')
        .replace(/wf_[0-9a-f]{32}/, 'wf_…'),
    );
}

describe('runsheet run', () => {
  it('prints steps on stderr as they happen, the output on stdout', async () => {
    const { code, out, err } = await project().runsheet(['run', 'definitions/notes.yaml', '--input', '{"who":"bob"}']);
    expect(linesOf(err)).toEqual([
      'started    notes  wf_…',
      'started    first',
      'completed  first',
      'skipped    never',
      'started    second',
      'completed  second',
      'completed  notes',
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ said: ['hello bob', 'bye'] });
  });

  it('takes a name, input from a file or stdin, and gives the run with --json', async () => {
    const notes = project({ 'in.json': '{"who":"file"}' });
    const byFile = await notes.runsheet(['run', 'notes', '--input', '@in.json', '--json']);
    expect(JSON.parse(byFile.out)).toMatchObject({
      version: 1,
      run: { workflow: 'notes', status: 'completed', input: { who: 'file' }, output: { said: ['hello file', 'bye'] } },
    });
    const byStdin = await notes.runsheet(['run', 'notes', '--input', '-'], { stdin: '{"who":"pipe"}' });
    expect(JSON.parse(byStdin.out)).toEqual({ said: ['hello pipe', 'bye'] });
  });

  it('gives the output of a finished run again for the same key, and refuses another input', async () => {
    const notes = project();
    const first = await notes.runsheet(['run', 'notes', '--key', 'k']);
    const calls = notes.read('calls.txt');
    const again = await notes.runsheet(['run', 'notes', '--key', 'k']);
    expect(again).toEqual({ code: 0, out: first.out, err: '' });
    expect(notes.read('calls.txt')).toBe(calls);
    const other = await notes.runsheet(['run', 'notes', '--key', 'k', '--input', '{"who":"bob"}']);
    expect(other.code).toBe(5);
    expect(other.err).toContain('belongs to wf_');
  });

  it('answers 1 for a run that fails, and says why', async () => {
    const flow = 'workflow: f\nsteps:\n  - step: refuse\noutput: 1\n';
    const { code, out, err } = await project({ 'f.yaml': flow }).runsheet(['run', 'f.yaml']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(linesOf(err).slice(-4)).toEqual([
      'failed     refuse@0  Refused: not today',
      'failed     f  Refused: not today',
      'wf_… failed: Refused: not today',
      '  runsheet show wf_…',
    ]);
  });

  it.each([
    ['{', 2, '--input is not JSON'],
    ['@nosuch.json', 2, 'cannot be read'],
    ['{"who":1}', 2, 'who'],
    ['{"whom":"x"}', 2, 'whom'],
    ['[]', 2, 'is not valid'],
  ])('refuses the input %s with %d, before anything is stored', async (input, code, message) => {
    const notes = project();
    const result = await notes.runsheet(['run', 'notes', '--input', input]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
    expect(result.err).not.toContain('\n    at ');
    expect((await notes.runsheet(['list'])).out).toBe('');
  });

  it('shows the mistakes of a flow that is no YAML where it is run by its name', async () => {
    const notes = project({ 'definitions/broken.yaml': 'workflow: broken\nsteps:\n  - set: ="a: " & "b"\n' });
    const { code, err } = await notes.runsheet(['run', 'broken']);
    expect(code).toBe(3);
    expect(err).toContain('definitions/broken.yaml:3:13: error RS1018');
    expect(err).toContain('definitions/broken.yaml has 1 mistake, so nothing was done');
  });

  it('answers 3 for an invalid flow, 4 for an unknown one with the nearest name', async () => {
    const notes = project({ 'bad.yaml': 'workflow: bad\nsteps: [\n' });
    expect((await notes.runsheet(['run', 'bad.yaml'])).code).toBe(3);
    const unknown = await notes.runsheet(['run', 'note']);
    expect(unknown).toEqual({
      code: 4,
      out: '',
      err: 'error: there is no workflow note in definitions; did you mean notes?\n',
    });
    expect((await notes.runsheet(['run', 'nosuch.yaml'])).code).toBe(4);
    expect(await notes.runsheet(['run', 'definitions'])).toEqual({
      code: 2,
      out: '',
      err: 'error: definitions is a folder; give the path or the name of one flow\n',
    });
  });

  it('answers 7 for a database that is none', async () => {
    const notes = project({ 'runs.db': 'this is not a database, whatever its name says' });
    const { code, err } = await notes.runsheet(['run', 'notes', '--db', 'runs.db']);
    expect(code).toBe(7);
    expect(err).toMatch(/^error: .*runs\.db/);
    expect(notes.read('runs.db')).toBe('this is not a database, whatever its name says');
  });

  it('takes the database from the environment', async () => {
    const notes = project();
    await notes.runsheet(['run', 'notes'], { env: { RUNSHEET_DB: 'other/runs.db' } });
    expect((await notes.runsheet(['list', '--db', 'other/runs.db'])).out).toContain('notes@1');
    expect((await notes.runsheet(['list'])).code).toBe(4);
    expect((await notes.runsheet(['list', '--db', 'postgres://localhost/runs'])).code).toBe(2);
  });
});

describe('a run that sleeps', () => {
  const sleeper = 'workflow: sleeper\nsteps:\n  - id: nap\n    sleep: 1h\n  - set: done\n';

  it('is let go at once by --no-wait with 6, saying how to go on', async () => {
    const naps = project({ 's.yaml': sleeper });
    const { code, out, err } = await naps.runsheet(['run', 's.yaml', '--no-wait', '--key', 'k']);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    const [, id = ''] = /(wf_[0-9a-f]{32}) is sleeping until \d{4}-.* and can go on:/.exec(err) ?? [];
    expect(err).toContain(`  runsheet run s.yaml --continue ${id}\n`);
    const again = await naps.runsheet(['run', 's.yaml', '--continue', id, '--no-wait']);
    expect(again.code).toBe(6);
  });

  it('says which option has a time that is none', async () => {
    const { code, err } = await project().runsheet(['run', 'notes', '--timeout', '5']);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'error: --timeout: "5" has no unit: which is meant, 5s, 5m or 5h?\n',
    });
  });

  it('is let go by --timeout with 6', async () => {
    const { code, err } = await project({ 's.yaml': sleeper }).runsheet(['run', 's.yaml', '--timeout', '50ms']);
    expect(code).toBe(6);
    expect(err).toContain('is sleeping until');
  });

  it('is left by Ctrl-C with 130, and can go on', async () => {
    const naps = project({ 's.yaml': sleeper });
    const { code, err } = await naps.runsheet(['run', 's.yaml'], {
      onProgress: (text, interrupt) => text.endsWith('\n') && /sleeping.*\n$/.test(text) && interrupt(),
    });
    expect(code).toBe(130);
    expect(err).toContain('is sleeping until');
    expect(err).toContain('runsheet run s.yaml --continue wf_');
  });

  it('goes on by itself when its time has come', async () => {
    const short = project({ 's.yaml': sleeper.replace('1h', '30ms') });
    const { code, out } = await short.runsheet(['run', 's.yaml']);
    expect({ code, out }).toEqual({ code: 0, out: '"done"\n' });
  });
});

describe('a run that is interrupted', () => {
  const holder =
    'workflow: holder\nsteps:\n  - id: a\n    step: note\n    with: { text: a }\n  - id: b\n    step: hold\n  - id: c\n    step: note\n    with: { text: c }\noutput: =$steps.b\n';

  it('lets the running step end, keeps what it gave, and goes on from there', async () => {
    const held = project({ 'h.yaml': holder });
    let interrupted = false;
    const first = await held.runsheet(['run', 'h.yaml', '--key', 'k'], {
      onProgress: (text, interrupt) => {
        if (interrupted || !text.includes('started    b\n')) return;
        interrupted = true;
        interrupt();
        held.write('go', '');
      },
    });
    expect(first.code).toBe(130);
    expect(first.err).toContain('stopping once the running steps have ended');
    const second = await held.runsheet(['run', 'h.yaml', '--key', 'k']);
    expect(second).toMatchObject({ code: 0, out: '"held"\n' });
    const calls = held.read('calls.txt').trimEnd().split('\n');
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['a', 'hold', 'c']);
  });

  it('ends at once at the second Ctrl-C', async () => {
    const held = project({ 'h.yaml': holder });
    let times = 0;
    const { code } = await held.runsheet(['run', 'h.yaml'], {
      onProgress: (text, interrupt) => {
        if (times > 0 || !text.includes('started    b\n')) return;
        times = 2;
        interrupt();
        interrupt();
        held.write('go', '');
      },
    });
    expect(code).toBe(130);
  });
});

describe('a changed flow', () => {
  const flow = 'workflow: f\nsteps:\n  - sleep: 1h\n  - set: 1\n';

  it('cannot take over an unfinished run: 5, naming both', async () => {
    const changed = project({ 'f.yaml': flow });
    await changed.runsheet(['run', 'f.yaml', '--key', 'k', '--no-wait']);
    changed.write('f.yaml', flow.replace('set: 1', 'set: 2'));
    const same = await changed.runsheet(['run', 'f.yaml', '--key', 'k', '--no-wait']);
    expect(same.code).toBe(5);
    changed.write('f.yaml', `revision: 2\n${flow.replace('set: 1', 'set: 2')}`);
    const raised = await changed.runsheet(['run', 'f.yaml', '--key', 'k', '--no-wait']);
    expect(raised.code).toBe(5);
    expect(raised.err).toMatch(/wf_[0-9a-f]+ was started from another content of f \(revision 1, hash [0-9a-f]{12}\)/);
    expect(raised.err).toMatch(
      /use another key for a new run, put the flow .* back, or .*:\n {2}runsheet worker --adopt-stored\n/,
    );
    const continued = await changed.runsheet(['run', 'f.yaml', '--continue', 'k', '--no-wait']);
    expect(continued.code).toBe(5);
    expect(continued.err).not.toContain('another key');
    expect(continued.err).toContain('  runsheet worker --adopt-stored\n');
  });
});
