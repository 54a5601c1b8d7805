import Database from 'better-sqlite3';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/cli/shell-word.js';
import { type CommandResult, type CommandSurroundings, Project } from './project.js';

/** Clears the screen, names the window, paints, begins lines and commands of a log, turns the direction of text. */
const evil =
  'A\u001b[2J\u001b]0;own\u0007B\u009b31mC\r\n::error::D\nFORGED\u2028FORGED\u0085FORGED\u202eE\u200f ##[error]F ##vso[x]G \u001b[31mH\u007f';

const handlers = `
export default [
  { name: 'talk', run: ({ input, logger }) => { logger.warn({ [input.text]: input.text, e: new Error(input.text) }, input.text); return { [input.text]: input.text }; } },
  { name: 'boom', run: ({ input }) => { throw Object.assign(new Error(input.text, { cause: new Error(input.text) }), { name: input.text }); } },
];
`;

const json = (value: unknown): string => JSON.stringify(value);
const text = '=$input.p';

const files = {
  'package.json': '{}',
  'handlers/h.mjs': handlers,
  'definitions/fails.json': json({ workflow: 'fails', input: { p: {} }, steps: [{ fail: 'Bad', message: text }] }),
  'definitions/boom.json': json({
    workflow: 'boom',
    input: { p: {} },
    steps: [{ step: 'boom', with: { text }, retry: { attempts: 1 } }],
  }),
  'definitions/undone.json': json({
    workflow: 'undone',
    input: { p: {} },
    steps: [
      { step: 'talk', with: { text }, compensate: { step: 'boom', with: { text }, retry: { attempts: 1 } } },
      { fail: 'Bad' },
    ],
  }),
  'definitions/talks.json': json({
    workflow: 'talks',
    description: evil,
    input: { p: {} },
    output: '=$input',
    steps: [{ id: 'talk', step: 'talk', with: { text } }, { set: { a: evil } }, { pivot: evil }],
  }),
  'definitions/waits.json': json({
    workflow: 'waits',
    input: { p: {} },
    steps: [
      {
        parallel: {
          left: [
            {
              waitFor: 'go',
              timeout: 'never',
              schema: { type: 'object', required: [evil], properties: { [evil]: {} } },
            },
          ],
          right: [{ subWorkflow: 'child', with: { p: text } }],
        },
      },
    ],
  }),
  'definitions/child.json': json({ workflow: 'child', input: { p: {} }, steps: [{ waitFor: 'stop', timeout: '2d' }] }),
  'definitions/f.test.json': json({
    workflow: './talks.json',
    tests: [
      {
        name: evil,
        input: { p: evil },
        handlers: { talk: { returns: { [evil]: evil } } },
        expect: { output: { [evil]: evil } },
      },
      { name: `::error::${evil}`, input: { p: evil }, handlers: { talk: { throws: { name: evil, message: evil } } } },
      { name: 'never', handlers: { talk: 'hangs' }, input: { p: evil } },
    ],
  }),
};

const input = ['--input', json({ p: evil })];

/** What a terminal or a reader of logs would obey in what was printed; nothing where it is as it should be. */
function obeyed(printed: string, { wraps = false } = {}): string[] {
  const uncolored = printed.replace(/\u001b\[(?:0|1|2|3[12356])m/g, '');
  return [
    ...(uncolored.match(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g) ?? []),
    ...(uncolored.match(/^\s*::[a-z-]+.*/gm) ?? []),
    // Where lines are broken to the width of a terminal, any word may come to stand first.
    ...(wraps ? [] : (uncolored.match(/^\s*FORGED.*/gm) ?? [])),
    ...(uncolored.match(/##(?:\[|vso\[)/g) ?? []),
  ];
}

const surroundings: readonly CommandSurroundings[] = [
  {},
  { isTerminal: true, env: { NO_COLOR: '1' }, size: { columns: 40, rows: 24 } },
  { env: { FORCE_COLOR: '1' } },
];

function harmlessly(result: CommandResult, what: unknown, { isTerminal = false }: CommandSurroundings = {}): void {
  const [out, err] = [result.out, result.err].map((printed) => obeyed(printed, { wraps: isTerminal }));
  expect({ what, out, err }).toEqual({ what, out: [], err: [] });
  expect(result.err).not.toContain('This should not happen');
}

async function inAll(project: Project, args: readonly string[]): Promise<CommandResult> {
  for (const around of surroundings.slice(1)) harmlessly(await project.runsheet(args, around), [args, around], around);
  const result = await project.runsheet(args);
  harmlessly(result, args);
  return result;
}

async function withRuns(): Promise<Project> {
  const project = new Project(files);
  for (const flow of ['fails', 'boom', 'talks', 'undone', 'waits']) {
    for (const around of surroundings) {
      harmlessly(
        await project.runsheet(['run', flow, ...input, '--no-wait', '--key', `${flow}${evil}`], around),
        flow,
        around,
      );
    }
  }
  return project;
}

describe('what others wrote steers nobody', () => {
  it('in runs, whatever looks at them', async () => {
    const project = await withRuns();
    const of = (flow: string): string => `${flow}${evil}`;
    for (const args of [
      ['list'],
      ['list', '--status', 'waiting', '--limit', '1'],
      ['list', '--limit', '2'],
      ['doctor'],
      ['recover'],
      ['schedules'],
      ...['fails', 'boom', 'talks', 'undone', 'waits'].flatMap((flow) => [
        ['show', of(flow)],
        ['show', '--full', of(flow)],
        ['logs', of(flow)],
        ['graph', of(flow)],
        ['graph', of(flow), '--format', 'dot'],
        ['graph', of(flow), '--format', 'svg'],
      ]),
      ['test', '--from-run', of('talks')],
      ['test', '--from-run', of('boom')],
      ['test', '--from-run', of('fails')],
      ['signal', of('waits'), evil],
      ['signal', of('waits'), 'go'],
      ['signal', of('waits'), 'go', '--data', json({ x: evil })],
      ['cancel', of('waits'), '--reason', evil],
      ['show', of('waits')],
      ['logs', of('waits')],
      ['resume', of('boom')],
      ['resume', of('fails')],
      ['compensation', 'resume', of('undone')],
      ['compensation', 'abandon', of('fails')],
      ['run', 'talks', '--key', of('fails'), ...input],
      ['run', 'talks', '--continue', of('fails')],
    ]) {
      await inAll(project, args);
    }
  }, 120_000);

  it('in JSON, which holds the same values', async () => {
    const project = await withRuns();
    const parsed = async (...args: string[]): Promise<unknown> => {
      const result = await project.runsheet([...args, '--json']);
      harmlessly(result, args);
      return JSON.parse(result.out);
    };
    expect(await parsed('show', `boom${evil}`)).toMatchObject({ run: { key: `boom${evil}`, error: { name: evil } } });
    expect(await parsed('list')).toMatchObject({
      runs: expect.arrayContaining([expect.objectContaining({ key: `boom${evil}` })]),
    });
    expect(JSON.parse((await project.runsheet(['run', 'talks', ...input])).out)).toEqual({ p: evil });
    const lines = await project.runsheet(['logs', `talks${evil}`, '--json']);
    harmlessly(lines, 'logs --json');
    for (const line of lines.out.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ version: 1 });
  }, 60_000);

  it('in what a worker logs', async () => {
    for (const flags of [[], ['--json']]) {
      const project = new Project(files);
      await project.runsheet(['start', 'talks', ...input]);
      await project.runsheet(['start', 'boom', ...input]);
      let ends = 0;
      const onProgress = (all: string, interrupt: (signal?: 'SIGTERM') => void): void => {
        const now = all.match(/ (completed|failed) .*(talks|boom) |workflow:(completed|failed)/g)?.length ?? 0;
        if (now > ends && (ends = now) >= 2) interrupt('SIGTERM');
      };
      const result = await project.runsheet(['worker', ...flags], { onProgress, onOutput: onProgress });
      harmlessly(result, flags);
      if (flags.length > 0) {
        const lines = result.out
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { message?: string });
        expect(lines.some(({ message }) => message === evil)).toBe(true);
      } else expect(result.err).toContain('A␛[2J');
    }
  }, 60_000);

  it('in flows and their names, in every format', async () => {
    const broken = {
      workflow: evil,
      steps: [{ id: evil, step: evil }, { [evil]: 1 }, { step: 'talk', with: { [evil]: `=$input.${evil}` } }],
    };
    const name = evil.replaceAll('/', '');
    const project = new Project({
      ...files,
      [`definitions/${name}.json`]: json(broken),
      [`definitions/::error::x${name}.yaml`]: '- x',
    });
    for (const format of ['human', 'json', 'sarif', 'github', 'junit']) {
      const result = await project.runsheet(['validate', '--format', format]);
      if (format === 'github') {
        const lines = result.out.trimEnd().split('\n');
        expect(lines.every((line) => /^::(error|warning) file=[^:]*,title=RS\d+::/.test(line))).toBe(true);
        harmlessly({ ...result, out: result.out.replace(/^::(error|warning) file=/gm, '') }, format);
      } else harmlessly(result, format);
    }
    for (const args of [
      ['validate'],
      ['validate', `definitions/${name}.json`],
      ['test', `definitions/${name}.json`],
      ['hash', `definitions/${name}.json`],
      ['graph', `definitions/${name}.json`],
      ['diff', `definitions/${name}.json`, 'definitions/fails.json'],
      ['run', `definitions/${name}.json`],
      ['start', `definitions/::error::x${name}.yaml`],
      ['handlers', '--types'],
      ['doctor'],
      ['worker'],
      ['complete', '--', 'run', ''],
    ]) {
      await inAll(project, args);
    }
  }, 60_000);

  it('in flow tests', async () => {
    const project = new Project(files);
    for (const format of ['human', 'json', 'junit']) {
      for (const more of [[], ['--coverage'], ['--filter', evil]]) {
        const result = await project.runsheet(['test', '--no-handlers', '--format', format, ...more]);
        harmlessly(result, [format, more]);
      }
    }
    await inAll(project, ['test', '--no-handlers']);
    await inAll(project, ['test', '--no-handlers', '--filter', `no${evil}`]);
  }, 60_000);

  it('in differences', async () => {
    const flow = (value: string): string =>
      json({ workflow: 'f', steps: [{ id: 'x', step: 'talk', with: { [evil]: value } }, { set: { [evil]: value } }] });
    const project = new Project({ 'a.json': flow('1'), 'b.json': flow(evil) });
    await inAll(project, ['diff', 'a.json', 'b.json']);
    await inAll(project, ['diff', 'a.json', 'b.json', '--json']);
  });

  it('in arguments', async () => {
    const project = new Project(files);
    for (const args of [
      [evil],
      [`--${evil}`],
      ['list', `--${evil}`],
      ['list', '--status', evil],
      ['list', '--workflow', evil],
      ['list', '--since', evil],
      ['list', '--cursor', evil],
      ['list', '--db', evil],
      ['list', '--config', evil],
      ['validate', evil],
      ['validate', '--handlers', evil],
      ['validate', '--format', evil],
      ['test', evil],
      ['explain', evil],
      ['schema', evil],
      ['completion', evil],
      ['hash', evil],
      ['graph', evil],
      ['graph', 'talks', '-o', `${evil}/x.svg`],
      ['graph', 'talks', '-o', evil],
      ['diff', evil, evil],
      ['handlers', evil],
      ['run', evil],
      ['run', 'talks', '--input', evil],
      ['run', 'talks', '--timeout', evil],
      ['run', 'talks', '--signal', evil],
      ['run', 'talks', '--continue', evil],
      ['start', 'talks', '--at', evil],
      ['show', evil],
      ['worker', '--workflows', evil],
      ['cleanup', '--older-than', evil],
      ['init', `new${evil}`],
      ['schedules', 'pause', evil, evil],
      ['schedules', 'trigger', evil, evil],
      ['migrate', '--db', evil],
    ]) {
      await inAll(project, args);
    }
  }, 60_000);

  it('in a config', async () => {
    for (const [name, content] of [
      ['runsheet.config.json', json({ [evil]: 1, db: 1 })],
      ['runsheet.config.json', json({ db: `nowhere${evil}` })],
      ['runsheet.config.yaml', `db: [${evil.replace(/[\r\n]/g, '')}`],
      ['runsheet.config.mjs', `throw new Error(${json(evil)});`],
    ] as const) {
      await inAll(new Project({ [name]: content }), ['list']);
    }
  });

  it('in rows of a database', async () => {
    const project = await withRuns();
    const db = new Database(project.path('.runsheet/runs.db'));
    db.prepare('update run set workflow = ?').run(evil);
    db.close();
    for (const args of [
      ['list'],
      ['show', `boom${evil}`],
      ['logs', `boom${evil}`],
      ['doctor'],
      ['complete', '--', 'show', ''],
    ]) {
      await inAll(project, args);
    }
  }, 60_000);
});

describe('drawings', () => {
  const bad =
    '"];\nclick n1 href "javascript:alert(1)"\n%%{init: {}}%%</text><script>alert(1)</script>]]></style>&quot;#60;';

  it('hold texts as texts', async () => {
    const project = new Project({
      'e.json': json({
        workflow: 'e',
        steps: [{ when: `=$run.id = ${json(bad)}`, set: bad }, { pivot: bad }, { fail: 'E', message: bad }],
      }),
    });
    const ran = await project.runsheet(['run', 'e.json', '--key', bad]);
    const id = /wf_[0-9a-f]{32}/.exec(ran.err)?.[0] ?? '';
    for (const target of ['e.json', id]) {
      const draw = async (format: string): Promise<string> =>
        (await project.runsheet(['graph', target, '--format', format, '--workflow', 'e'])).out;
      expect(await draw('svg')).not.toMatch(/<script|<a[ >]|\son\w+=/);
      const mermaid = await draw('mermaid');
      expect(mermaid).toContain('flowchart TB');
      expect(mermaid).not.toMatch(/^\s*click|%%\{|<script|"\];/m);
      expect(await draw('dot')).not.toMatch(/(?<!\\)"\];\s*\n?\s*click/);
    }
    expect(ran.code).toBe(1);
  });
});

describe('completion', () => {
  it('offers nothing that a shell would execute, or that is an option', async () => {
    const names = [
      '$(touch x)',
      '`touch x`',
      'a;b',
      'a b',
      "a'b",
      'a|b',
      '-rf',
      '--config=x',
      '~root',
      '=ls',
      'a\nb',
      'a&b',
      'a>b',
      'ok/1',
    ];
    const project = new Project({ 'definitions/g.yaml': 'workflow: g\nsteps: [{ waitFor: go, timeout: never }]\n' });
    for (const key of names) await project.runsheet(['start', 'definitions/g.yaml', `--key=${key}`]);
    for (const [index, name] of names.entries()) {
      project.write(`definitions/${index}.json`, json({ workflow: name, steps: [{ step: name }, { waitFor: name }] }));
    }
    const offered = async (...words: string[]): Promise<string[]> =>
      (await project.runsheet(['complete', '--', ...words])).out
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0] ?? '');
    expect(await offered('list', '--workflow', '')).toEqual(['ok/1', 'g']);
    expect(await offered('handlers', '')).toEqual(['ok/1']);
    expect(await offered('signal', 'x', '')).toEqual(['ok/1', 'go']);
    for (const one of await offered('show', '')) expect(one).toMatch(/^(wf_\w+|ok\/1)$/);
  });
});

describe('commands that are proposed', () => {
  it.each(["it's", evil, 'a b', '\u0001\\n', '\u200e', '日本'])(
    '%j is one word of a shell, and steers nobody',
    (word) => {
      const quoted = shellWord(word);
      expect(obeyed(quoted)).toEqual([]);
      const back = execFileSync('bash', ['-c', `printf %s ${quoted}`], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
      expect(back.toString()).toBe(word);
    },
  );
});
