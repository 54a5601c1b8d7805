import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtCommand } from '../built-command.js';
import { Project, notingHandlers } from '../project.js';
import { TerminalScreen } from './terminal-screen.js';

const hasScript = spawnSync('script', ['--version']).status === 0;

const files = {
  'handlers/all.ts': notingHandlers,
  'definitions/hold.yaml': `
workflow: hold
steps:
  - id: first
    step: note
    with: { text: hi }
  - id: held
    step: hold
  - id: last
    step: note
    with: { text: bye }
output: =$steps.held
`,
  'definitions/gate.yaml': `
workflow: gate
steps:
  - id: gate
    waitFor: go
    timeout: 2h
`,
};

interface OnTerminal {
  readonly screen: TerminalScreen;
  type(text: string): void;
  /** Resolves once the screen shows it. */
  shown(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

/** Runs the command in a pseudo-terminal of 80 columns, as `script` of util-linux makes one. */
function onTerminal(project: Project, args: readonly string[], env: Record<string, string> = {}): OnTerminal {
  const command = [process.execPath, builtCommand(), ...args].join(' ');
  const child = spawn('script', ['-qefc', `stty cols 80 rows 24; exec ${command}`, '/dev/null'], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const screen = new TerminalScreen(80);
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen.write(text);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return {
    screen,
    ended,
    type: (text) => void child.stdin.write(text),
    shown: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (screen.text.includes(text)) resolve();
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`ended without ${text}:\n${screen.text}`)));
      }),
  };
}

const timeless = (text: string): string => text.replace(/wf_[0-9a-f]{32}/g, 'wf_1').replace(/\b[\d.]+m?s\b/g, '<time>');

describe.skipIf(!hasScript)('on a terminal', () => {
  it('run draws the run in place, what handlers print above it, and leaves the last state and the output', async () => {
    const project = new Project(files);
    const { screen, shown, ended } = onTerminal(project, ['run', 'hold']);
    await shown('held  ');
    expect(screen.isCursorShown).toBe(false);
    expect(screen.text).toContain('✓ first');
    expect(screen.text).toContain('· last');
    await shown('holding');
    project.write('go', '');
    expect(await ended).toBe(0);
    expect(screen.isCursorShown).toBe(true);
    expect(timeless(screen.text)).toBe(`holding
hold  wf_1  completed  <time>
  ✓ first  <time>
  ✓ held  <time>
  ✓ last  <time>
"held"
`);
  });

  it('Ctrl-C leaves the run resumable, says how, and gives the terminal back', async () => {
    const project = new Project(files);
    const { screen, shown, type, ended } = onTerminal(project, ['run', 'gate', '--key', 'k']);
    await shown('waits for go');
    await shown('runsheet signal');
    type('\u0003');
    expect(await ended).toBe(130);
    expect(screen.isCursorShown).toBe(true);
    expect(screen.text).toMatch(/gate {2}wf_\w+ \(k\) {2}waiting {2}.*\n {2}◦ gate {2}waits for go, 1h\d\dm left\n/);
    expect(screen.text.replace(/\n(?=\w)/g, '')).toMatch(/runsheet run gate --continue wf_/);
  });

  it('draws nothing in place with NO_COLOR or on a terminal that is dumb', async () => {
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const project = new Project(files);
      project.write('go', '');
      const { screen, ended } = onTerminal(project, ['run', 'hold'], env);
      expect(await ended).toBe(0);
      expect(screen.text).toMatch(/^[\d:.]{12} {2}started {4}hold {2}wf_\w+\n/);
      expect(screen.text).not.toContain('✓');
    }
  });

  it('logs -f tells the journal above the run, and ends with it', async () => {
    const project = new Project(files);
    await project.runsheet(['run', 'gate', '--key', 'k', '--no-wait']);
    const { screen, shown, ended } = onTerminal(project, ['logs', 'k', '-f']);
    await shown('◦ gate  waits for go');
    await project.runsheet(['run', 'gate', '--key', 'k', '--signal', 'go=1']);
    expect(await ended).toBe(0);
    expect(screen.text).toMatch(/^\d{4}-\d\d-\d\d\n[\d:.]{12} {2}gate {2}the run starts\n/);
    expect(screen.text).toMatch(
      / {2}gate {2}got the signal: 1\n(.*\n)*gate {2}wf_\w+ \(k\) {2}completed {2}.*\n {2}✓ gate {2}answered\n$/,
    );
  });
});
