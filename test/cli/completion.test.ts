import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { withRunsheet } from './on-path.js';
import { Project, notingHandlers } from './project.js';

const files = {
  'definitions/approval.yaml': `
workflow: approval
description: Ask somebody.
steps:
  - waitFor: decision
    timeout: never
`,
  'definitions/broken.yaml': 'workflow: broken\nsteps: [{ stpe: x }]\n',
  'handlers/all.ts': notingHandlers,
};

async function offered(project: Project, ...words: string[]): Promise<string[]> {
  const { code, out } = await project.runsheet(['complete', '--', ...words]);
  expect(code).toBe(0);
  return out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
}

describe('runsheet complete', () => {
  it('offers commands, those inside others, options, and their choices', async () => {
    const project = new Project(files);
    expect(await offered(project, 'com')).toEqual(['compensation', 'completion']);
    expect(await offered(project, 'compensation', '')).toEqual(['resume', 'abandon', 'help']);
    expect(await offered(project, 'list', '--sta')).toEqual(['--status']);
    expect(await offered(project, 'list', '--status', 'comp')).toEqual([
      'compensating',
      'compensation-stuck',
      'completed',
    ]);
    expect(await offered(project, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await offered(project, 'schema', 'f')).toEqual(['flow-test']);
    expect(await offered(project, 'validate', '--format=j')).toContain('--format=json');
    // As bash hands it over.
    expect(await offered(project, 'validate', '--format', '=', 'j')).toContain('--format=json');
  });

  it('offers flows, whatever is wrong with them, and paths where they do as well', async () => {
    const project = new Project(files);
    expect(await offered(project, 'run', '')).toEqual(['approval', 'broken', ':files']);
    expect(await offered(project, 'list', '--workflow', 'a')).toEqual(['approval']);
    expect(await offered(project, 'run', '--db', '')).toEqual([':files']);
    expect((await project.runsheet(['complete', '--', 'run', 'app'])).out).toBe('approval\tAsk somebody.\n:files\n');
  });

  it('offers the handlers that flows call, without executing any module', async () => {
    const project = new Project({
      'definitions/a.yaml': 'workflow: a\nsteps:\n  - step: note\n    compensate: { step: unnote }\n',
      'handlers/all.ts': 'throw new Error("executed");\n',
    });
    expect(await offered(project, 'handlers', '')).toEqual(['note', 'unnote']);
  });

  it('offers runs by key or id, and the signals there are', async () => {
    const project = new Project(files);
    await project.runsheet(['start', 'approval', '--key', 'july/c-45']);
    await project.runsheet(['start', 'approval', '--key', 'two words']);
    const [newest, oldest] = await offered(project, 'show', '');
    expect(newest).toMatch(/^wf_[0-9a-f]{32}$/);
    expect(oldest).toBe('july/c-45');
    expect(await offered(project, 'signal', 'july/c-45', '')).toEqual(['decision']);
  });

  it('looks where the config of the project says, and where the options say that were typed', async () => {
    const moved = {
      'flows/approval.yaml': files['definitions/approval.yaml'],
      'steps/all.ts': notingHandlers,
      'other/rest.yaml': 'workflow: rest\nsteps: [{ sleep: 1h }]\n',
      'runsheet.config.yaml': 'definitions: flows\nhandlers: steps\ndb: data/runs.db\n',
    };
    const project = new Project({ ...moved, 'flows/noting.yaml': 'workflow: noting\nsteps: [{ step: note }]\n' });
    await project.runsheet(['start', 'approval', '--key', 'configured']);
    await project.runsheet(['start', 'other/rest.yaml', '--key', 'elsewhere', '--db', 'else.db']);
    expect(await offered(project, 'run', '')).toEqual(['approval', 'noting', ':files']);
    expect(await offered(project, 'handlers', 'no')).toEqual(['note']);
    expect(await offered(project, 'show', '')).toEqual(['configured']);
    expect(await offered(project, 'signal', 'configured', '')).toEqual(['decision']);
    expect(await offered(project, 'show', '--db', 'else.db', '')).toEqual(['elsewhere']);
    expect(await offered(project, 'show', '--db=else.db', '')).toEqual(['elsewhere']);
    expect(await offered(project, 'run', '--definitions', 'other', '')).toEqual(['rest', ':files']);
    // A config that is broken is told by the commands themselves.
    project.write('runsheet.config.yaml', 'definitions: [');
    expect(await project.runsheet(['complete', '--', 'run', ''])).toEqual({ code: 0, out: ':files\n', err: '' });
  });

  it('offers flows and runs to draw, and flows to test', async () => {
    const project = new Project(files);
    await project.runsheet(['start', 'approval', '--key', 'july']);
    expect(await offered(project, 'graph', '')).toEqual(['approval', 'broken', 'july', ':files']);
    expect(await offered(project, 'test', 'appr')).toEqual(['approval', ':files']);
  });

  it('offers nothing, without a word, where there is no project or nothing fits', async () => {
    const project = new Project();
    expect(await project.runsheet(['complete', '--', 'show', ''])).toEqual({ code: 0, out: '', err: '' });
    expect(await project.runsheet(['complete', '--', 'nonsense', 'x'])).toEqual({ code: 0, out: '', err: '' });
  });
});

function has(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}

describe('in a shell', () => {
  function atHome(): { project: Project; env: NodeJS.ProcessEnv } {
    const project = new Project(files);
    return { project, env: withRunsheet(project).env };
  }

  it('bash completes what was typed, evaluates none of it, and can read the script twice', () => {
    const { project, env } = atHome();
    const complete = (words: string, last: number): string[] =>
      execFileSync(
        'bash',
        [
          '-c',
          `source <(runsheet completion bash); source <(runsheet completion bash)
           COMP_WORDS=(${words}); COMP_CWORD=${last}; _runsheet; printf '%s\\n' "\${COMPREPLY[@]}"`,
        ],
        { cwd: project.folder, env, encoding: 'utf8' },
      )
        .trimEnd()
        .split('\n');
    expect(complete("runsheet run ''", 2)).toEqual([
      'approval',
      'broken',
      ...['bin', 'definitions', 'handlers'].map(() => expect.stringMatching(/^(bin|definitions|handlers)$/)),
    ]);
    expect(complete('runsheet run definitions/a', 2)).toEqual(['definitions/approval.yaml']);
    expect(complete("runsheet validate --format = 'js'", 4)).toEqual(['json']);
    complete("runsheet run '$(touch evaluated)'", 2);
    expect(() => project.read('evaluated')).toThrow();
  });

  it.runIf(has('fish'))('fish shows descriptions', () => {
    const { project, env } = atHome();
    const out = execFileSync('fish', ['-c', 'runsheet completion fish | source; complete -C "runsheet run ap"'], {
      cwd: project.folder,
      env,
      encoding: 'utf8',
    });
    expect(out).toBe('approval\tAsk somebody.\n');
  });

  it.runIf(has('zsh'))('zsh takes the script', () => {
    const { project, env } = atHome();
    const out = execFileSync(
      'zsh',
      ['-fc', 'autoload -U compinit; compinit -D; source <(runsheet completion zsh); print $_comps[runsheet]'],
      { cwd: project.folder, env, encoding: 'utf8' },
    );
    expect(out).toBe('_runsheet\n');
  });
});
