import { SqliteStorage } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/common/index.js';
import { Project, notingHandlers } from './project.js';

const flow = `
workflow: notes
input:
  who: { type: string, default: eva }
steps:
  - step: note
    with: { text: =$input.who }
`;

function project(): Project {
  return new Project({ 'definitions/notes.yaml': flow, 'handlers/all.ts': notingHandlers });
}

interface StartedRun {
  readonly id: string;
  readonly status: string;
  readonly input: unknown;
  readonly dueAt: number;
}

function runOf(out: string): StartedRun {
  return (JSON.parse(out) as { run: StartedRun }).run;
}

describe('runsheet start', () => {
  it('takes no input of which something would be lost', async () => {
    const notes = project();
    for (const [input, reason] of [
      ['{"who": "a", "who": "b"}', '--input cannot be taken: the key "who" (line 1, column 14) is there twice'],
      ['{"who": 12345678901234567890}', 'quote it: "12345678901234567890"'],
      ['{who: 1}', '--input is not JSON'],
    ] as const) {
      const { code, out, err } = await notes.runsheet(['start', 'notes', '--input', input]);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(reason);
    }
  });

  it('prints the id of a run that nobody drives yet, and how it goes on', async () => {
    const notes = project();
    const { code, out, err } = await notes.runsheet(['start', 'notes', '--input', '{"who":"bob"}']);
    const id = out.trimEnd();
    expect({ code, err }).toEqual({
      code: 0,
      err: `${id} is pending\nunless a worker drives it, go on by\n  runsheet run notes --continue ${id}\n`,
    });
    const [, ...command] = /runsheet (run .*)\n/.exec(err)?.[1]?.split(' ') ?? [];
    const driven = await notes.runsheet(['run', ...command]);
    expect(JSON.parse(driven.out)).toEqual({ text: 'bob' });
  });

  it('is the same run for the same key, and says how it is', async () => {
    const notes = project();
    const first = await notes.runsheet(['start', 'definitions/notes.yaml', '--key', 'k']);
    await notes.runsheet(['run', 'notes', '--key', 'k']);
    const again = await notes.runsheet(['start', 'notes', '--key', 'k']);
    expect(again).toEqual({ code: 0, out: first.out, err: `${first.out.trimEnd()} is completed\n` });
    expect((await notes.runsheet(['start', 'notes', '--key', 'k', '--input', '{"who":"bob"}'])).code).toBe(5);
    expect(notes.read('calls.txt').split('\n')).toHaveLength(2);
  });

  it('waits with --at for a time, or for so long', async () => {
    const notes = project();
    const at = runOf((await notes.runsheet(['start', 'notes', '--at', '2100-01-31T09:00:00Z', '--json'])).out);
    expect(at).toMatchObject({ status: 'pending', dueAt: Date.UTC(2100, 0, 31, 9), input: { who: 'eva' } });
    const clock = { ...systemClock, now: () => Date.UTC(2030, 0, 1) };
    const later = await notes.runsheet(['start', 'notes', '--at', '2h', '--json'], { clock });
    expect(runOf(later.out).dueAt).toBe(Date.UTC(2030, 0, 1, 2));
    expect(later.err).toMatch(/is pending until \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\n/);
  });

  it.each([
    [['notes', '--at', 'tomorrow'], 2, '--at takes a duration (2h, 7d) or a time (2030-01-31, 2030-01-31T09:00:00Z)'],
    [['notes', '--input', '{"who":1}'], 2, 'who'],
    [['note'], 4, 'did you mean notes?'],
    [['definitions'], 2, 'definitions is a folder; give the path or the name of one flow'],
  ])('refuses %j with %d', async (args, code, message) => {
    const notes = project();
    const result = await notes.runsheet(['start', ...args]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });

  it.each([
    [['start', 'notes', '--key', '']],
    [['run', 'notes', '--key', ' ']],
    [['list', '--workflow', '']],
    [['show', '']],
    [['signal', '', 'word']],
    [['cancel', 'k', '--workflow', '']],
  ])('takes no name, key or id that is empty: %j', async (args) => {
    const notes = project();
    await notes.runsheet(['start', 'notes', '--key', 'k']);
    const { code, err } = await notes.runsheet(args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('must not be empty') as string });
  });

  it('starts runs whose time has no date only before these were refused; they are shown', async () => {
    const notes = project();
    const id = (await notes.runsheet(['start', 'notes'])).out.trim();
    const storage = new SqliteStorage(notes.path('.runsheet/runs.db'));
    await storage.open();
    const { definitionHash = '' } = (await storage.getRun(id)) ?? {};
    const times = { createdAt: 0, dueAt: 8.7e15 };
    await storage.enqueueRun({
      id: 'wf_late',
      workflow: 'notes',
      revision: 1,
      definitionHash,
      key: null,
      input: '{}',
      ...times,
    });
    await storage.close();
    const { code, out } = await notes.runsheet(['show', 'wf_late']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('no date (8700000000000000)') as string });
    expect((await notes.runsheet(['list'])).code).toBe(0);
  });
});
