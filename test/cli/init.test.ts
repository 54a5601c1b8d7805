import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { Project } from './project.js';

/** What `npm install` would have put there. */
function withPackages(project: Project): Project {
  project.installPackages();
  return project;
}

/** The handlers of the new project use paths as people do, from where they are. */
function goInto(project: Project): void {
  const before = process.cwd();
  process.chdir(project.folder);
  onTestFinished(() => process.chdir(before));
}

describe('runsheet init', () => {
  it('makes a project that is without mistakes and runs at once', async () => {
    const project = withPackages(new Project());
    expect(await project.runsheet(['init'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('npx runsheet test'),
    });
    expect(await project.runsheet(['validate', '--max-warnings', '0'])).toMatchObject({ code: 0 });
    expect(await project.runsheet(['test'])).toMatchObject({ code: 0, err: expect.stringContaining('all passed') });
    goInto(project);
    const run = await project.runsheet(['run', 'weekly-report', '--input', '{ "week": "2030-W01" }']);
    expect(run).toMatchObject({ code: 0 });
    expect(JSON.parse(run.out)).toEqual({ file: 'out/2030-W01.txt', total: 1070, verdict: 'the goal is reached' });
    expect(project.read('out/2030-W01.txt')).toBe('berlin: 640\nlisbon: 430\ntotal: 1070, the goal is reached\n');
    const closed = await project.runsheet(['run', 'weekly-report', '--input', '{ "week": "2030-W02" }']);
    expect(JSON.parse(closed.out)).toMatchObject({ total: 710, verdict: '290 short of the goal' });
  });

  it('makes a folder, and names the package after it', async () => {
    const project = new Project();
    const { code, out, err } = await project.runsheet(['init', 'My Flows']);
    expect(code).toBe(0);
    expect(out).toMatch(/^Now:\n {2}cd 'My Flows'\n {2}npm install\n/);
    expect(err).toContain('wrote My Flows/definitions/weekly-report.yaml\n');
    const content = JSON.parse(project.read('My Flows/package.json')) as Record<string, unknown>;
    expect(content).toMatchObject({
      name: 'my-flows',
      scripts: { test: 'runsheet validate && tsc && runsheet test' },
      dependencies: { runsheet: '^0.1.0', zod: expect.stringMatching(/^\^4/) as string },
      devDependencies: {
        typescript: expect.stringMatching(/5/) as string,
        '@types/node': expect.stringMatching(/20/) as string,
      },
    });
    expect(project.exists('My Flows/tsconfig.json')).toBe(true);
    expect(project.read('My Flows/.gitignore')).toContain('.runsheet/\n');
  });

  it('makes a workflow that executes nothing of a pull request, and may only read', async () => {
    const project = new Project();
    await project.runsheet(['init']);
    const workflow = parse(project.read('.github/workflows/flows.yml')) as {
      permissions: unknown;
      jobs: Record<string, { if?: string; steps: { run?: string; uses?: string }[] }>;
    };
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const { untrusted, ...others } = workflow.jobs;
    const steps = untrusted?.steps ?? [];
    const checkout = steps.findIndex(({ uses }) => uses?.startsWith('actions/checkout') === true);
    expect(steps.slice(checkout).flatMap(({ run }) => run ?? [])).toEqual([
      'runsheet validate --untrusted --format github',
      'runsheet test --untrusted',
    ]);
    expect(steps.slice(0, checkout).flatMap(({ run }) => run ?? [])).toEqual(['npm install --global runsheet@0.1.0']);
    for (const job of Object.values(others)) expect(job.if).toBe("github.event_name == 'push'");
    expect(await project.runsheet(['validate', '--untrusted'])).toMatchObject({ code: 0 });
    expect(await project.runsheet(['test', '--untrusted'])).toMatchObject({ code: 0 });
  });

  it('keeps a package.json, a tsconfig.json and a .gitignore', async () => {
    const project = new Project({
      'package.json': '{ "name": "mine" }',
      'tsconfig.json': '{}',
      '.gitignore': 'secret\n',
    });
    expect(await project.runsheet(['init'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('kept package.json\n'),
    });
    expect(project.read('package.json')).toBe('{ "name": "mine" }');
    expect(project.read('.gitignore')).toBe('secret\n');
    expect(project.read('tsconfig.json')).toBe('{}');
    expect(existsSync(project.path('handlers/sales.ts'))).toBe(true);
  });

  it('replaces nothing, and writes nothing where something is in the way', async () => {
    const project = new Project({ 'handlers/sales.ts': '// mine' });
    expect(await project.runsheet(['init'])).toEqual({
      code: 5,
      out: '',
      err: 'error: handlers/sales.ts is there already, so nothing was written; choose an empty folder\n',
    });
    expect(readdirSync(project.folder)).toEqual(['handlers']);
    expect(project.read('handlers/sales.ts')).toBe('// mine');
  });
});
