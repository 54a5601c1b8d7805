import { describe, expect, it } from 'vitest';
import { Project, notingHandlers } from './project.js';

const flow = `
workflow: report
schedule:
  - id: morning
    cron: 0 9 * * MON-FRI
    timezone: Europe/Berlin
    input: { who: boss }
  - { every: 36h, overlap: queue }
input:
  who: { type: string, default: eva }
steps:
  - step: note
    with: { text: =$input.who }
`;

/** A workflow with two schedules, which the database knows since a run of it was started. */
async function project(): Promise<Project> {
  const reports = new Project({ 'definitions/report.yaml': flow, 'handlers/all.ts': notingHandlers });
  await reports.runsheet(['start', 'report', '--key', 'first']);
  return reports;
}

interface ListedSchedule {
  readonly id: string;
  readonly paused: boolean;
  readonly nextAt: number;
  readonly nextTimes: readonly number[];
}

async function listed(reports: Project, ...args: string[]): Promise<ListedSchedule[]> {
  const { out } = await reports.runsheet(['schedules', '--json', ...args]);
  return (JSON.parse(out) as { schedules: ListedSchedule[] }).schedules;
}

describe('runsheet schedules', () => {
  it('lists schedules with their next times, also in their own zone', async () => {
    const reports = await project();
    const { code, out } = await reports.runsheet(['schedules', '--next', '3']);
    expect(code).toBe(0);
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;
    const local = String.raw`\d{4}-\d\d-\d\d 09:00 Europe\/Berlin`;
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^WORKFLOW +ID +WHEN +ZONE +OVERLAP +NEXT$/);
    expect(lines[1]).toMatch(new RegExp(`^report +1 +every 1d12h +queue +${time}$`));
    expect(lines[2]).toMatch(new RegExp(`^ +${time}$`));
    expect(lines[4]).toMatch(
      new RegExp(`^report +morning +0 9 \\* \\* MON-FRI +Europe/Berlin +skip +${time} +${local}$`),
    );
    expect(lines).toHaveLength(7);

    const [every, morning] = await listed(reports, '--next', '4');
    expect(morning?.nextTimes).toHaveLength(4);
    const [first = 0, second = 0] = every?.nextTimes ?? [];
    expect([every?.nextAt, second - first]).toEqual([first, 36 * 3_600_000]);
  });

  it('pauses one and lets it go on', async () => {
    const reports = await project();
    const paused = await reports.runsheet(['schedules', 'pause', 'report', 'morning']);
    expect(paused).toEqual({ code: 0, out: '', err: 'morning of report is paused\n' });
    expect((await reports.runsheet(['schedules'])).out).toMatch(/morning .* paused$/m);
    expect((await listed(reports)).map(({ id, paused: is }) => [id, is])).toEqual([
      ['1', false],
      ['morning', true],
    ]);

    const going = await reports.runsheet(['schedules', 'resume', 'report', 'morning', '--json']);
    expect(going.err).toMatch(/^morning of report goes on, next at \d{4}-/);
    expect(JSON.parse(going.out)).toMatchObject({ version: 1, schedule: { id: 'morning', paused: false } });
  });

  it('starts a run now, with the input of the schedule', async () => {
    const reports = await project();
    const { code, out, err } = await reports.runsheet(['schedules', 'trigger', 'report', 'morning']);
    expect(code).toBe(0);
    expect(err).toContain(`runsheet run report --continue ${out.trimEnd()}\n`);
    const driven = await reports.runsheet(['run', 'report', '--continue', out.trimEnd()]);
    expect(JSON.parse(driven.out)).toEqual({ text: 'boss' });
  });

  it.each(['pause', 'resume', 'trigger'])('cannot %s one that is not there', async (verb) => {
    const reports = await project();
    const { code, err } = await reports.runsheet(['schedules', verb, 'report', 'evening']);
    expect({ code, err }).toEqual({ code: 4, err: 'error: report has no schedule evening, but 1, morning\n' });
  });

  it('says where schedules come from if there are none', async () => {
    const empty = new Project({
      'definitions/w.yaml': 'workflow: w\nsteps:\n  - sleep: 1h\n',
      'handlers/all.ts': notingHandlers,
    });
    await empty.runsheet(['start', 'w']);
    const { code, out, err } = await empty.runsheet(['schedules']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toBe('no schedules; a worker registers those of its flows when it starts\n');
  });
});
