import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { SqliteStorage } from '../../src/storage/index.js';
import { builtCommand } from './built-command.js';
import { Project } from './project.js';

const gate = `workflow: gate
steps:
  - waitFor: go
    timeout: never
    filter: =$signal.ok = true
  - set: { answer: =40 + 2 }
`;

const handled = `workflow: handled
steps:
  - id: risky
    step: refuse
    retry: { attempts: 1 }
    onError:
      - do: [{ set: { calm: true } }]
`;

const failing = `workflow: failing
steps:
  - id: risky
    step: refuse
    retry: { attempts: 1 }
`;

const handlers = `export default [
  { name: 'refuse', run() { throw new Error('no'); } },
];\n`;

const files = {
  'gate.yaml': gate,
  'handled.yaml': handled,
  'failing.yaml': failing,
  'handlers/h.mjs': handlers,
};

describe('a run', () => {
  it('is named by the beginning of its id, as long as no other begins so', async () => {
    const project = new Project(files);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await project.runsheet(['start', 'gate.yaml'])).out.trim());
    }
    const [first = ''] = ids;
    const short = first.slice(0, 12);
    expect(JSON.parse((await project.runsheet(['show', short, '--json'])).out)).toMatchObject({ run: { id: first } });
    expect((await project.runsheet(['logs', short])).code).toBe(0);
    expect((await project.runsheet(['graph', short])).out).toContain(first);
    expect((await project.runsheet(['cancel', short])).err).toContain(`${first} is told to end`);
    expect(await project.runsheet(['show', 'wf_'])).toMatchObject({ code: 4 });
    expect(await project.runsheet(['show', 'wf_zzzz'])).toMatchObject({ code: 4 });
  });

  it('is not guessed where two ids begin alike, which are named', async () => {
    const project = new Project(files);
    const { out } = await project.runsheet(['start', 'gate.yaml', '--json']);
    const { run } = JSON.parse(out) as { run: { id: string; definitionHash: string } };
    const twin = `${run.id.slice(0, 20)}${run.id.endsWith('0') ? '1' : '0'.repeat(15)}`.padEnd(35, '0');
    const storage = new SqliteStorage(project.path('.runsheet/runs.db'));
    await storage.open();
    await storage.close();
    const Database = (await import('better-sqlite3')).default;
    const db = new Database(project.path('.runsheet/runs.db'));
    const columns = (db.pragma('table_info(run)') as { name: string; pk: number }[])
      .filter(({ pk }) => pk === 0)
      .map(({ name }) => name);
    const values = columns.map((name) => (name === 'id' ? '?' : `"${name}"`)).join(', ');
    db.prepare(`insert into run (${columns.map((name) => `"${name}"`).join(', ')}) select ${values} from run`).run(
      twin,
    );
    db.close();
    const { code, err } = await project.runsheet(['show', run.id.slice(0, 12)]);
    expect(code).toBe(2);
    expect(err).toContain(`the ids of 2 runs begin with ${run.id.slice(0, 12)}; give more of the one that is meant:`);
    for (const id of [run.id, twin]) expect(err).toContain(`  ${id}  gate, pending`);
    const list = await project.runsheet(['list'], { isTerminal: true });
    expect(list.out.trimEnd().split('\n')).toHaveLength(3);
    for (const id of [run.id, twin]) expect(list.out).toContain(id.slice(0, 21));
  });

  it('is one line of a list at 80 columns, whatever it is called', async () => {
    const long = 'a-workflow-with-a-very-long-name-that-somebody-has-chosen';
    const project = new Project({ 'long.yaml': gate.replace('workflow: gate', `workflow: ${long}`) });
    await project.runsheet(['start', 'long.yaml', '--key', `customer-4711/order-2030-01-01/${'x'.repeat(60)}`]);
    const { out } = await project.runsheet(['list'], { isTerminal: true });
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^wf_[0-9a-f]{8} {2}a-workflow-\S*… +pending +[\d-]+ [\d:]+ +customer-\S*…$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect((await project.runsheet(['list'])).out, 'elsewhere nothing is cut').toContain(long);
  });

  it('shows the values of set, and a failure that was handled as such', async () => {
    const project = new Project(files);
    await project.runsheet(['run', 'handled.yaml', '--key', 'h']);
    const shown = (await project.runsheet(['show', 'h'])).out;
    expect(shown).toMatch(/^risky +failed \(handled\) +1 /m);
    expect(shown).toMatch(/^ +value +\{"calm":true\}$/m);
    const svg = (await project.runsheet(['graph', 'h', '--format', 'svg'])).out;
    expect(svg).toMatch(/class="f-handled-fill s-handled-border"/);
    expect((await project.runsheet(['graph', 'h'])).out).toContain('failed#58; Error (handled)');
    await project.runsheet(['run', 'failing.yaml', '--key', 'f']);
    expect((await project.runsheet(['show', 'f'])).out).toMatch(/^risky +failed +1 /m);
    expect((await project.runsheet(['graph', 'f', '--format', 'svg'])).out).not.toMatch(
      /class="node leaf step stated handled"/,
    );
    const live = await project.runsheet(['run', 'handled.yaml'], { isTerminal: true, env: { TERM: 'xterm' } });
    expect(live.err).toContain('failed: Error (handled)');
  });
});

describe('a signal', () => {
  it('to a gate with a filter is sent, and nobody drives the run', async () => {
    const project = new Project(files);
    const id = (await project.runsheet(['start', 'gate.yaml'])).out.trim();
    const { err } = await project.runsheet(['signal', id, 'go', '--data', '{ "ok": false }']);
    expect(err).toBe(
      `go was sent to ${id}; the filter of its gate decides whether it is taken: \`runsheet show ${id}\` says so\n` +
        `no engine is running, so that nothing happens until one is; go on by\n  runsheet run gate --continue ${id}\n`,
    );
  });

  it('says nothing of how to go on while a process waits for it', async () => {
    const project = new Project(files);
    let sent: Promise<{ err: string }> | undefined;
    const ran = await project.runsheet(['run', 'gate.yaml', '--key', 'k'], {
      onProgress: (all) => {
        if (all.includes('waiting')) sent ??= project.runsheet(['signal', 'k', 'go', '--data', '{ "ok": true }']);
      },
    });
    expect(ran.code).toBe(0);
    expect((await sent)?.err).toMatch(/^go was sent to wf_\w+; the filter [^\n]*\n$/);
  });
});

describe('hints', () => {
  it('say npx where npm has started the command, since only that finds it', async () => {
    const project = new Project(files);
    const env = { npm_command: 'exec' };
    const id = (await project.runsheet(['start', 'gate.yaml'], { env })).out.trim();
    expect((await project.runsheet(['start', 'gate.yaml', '--key', 'b'], { env })).err).toContain(
      '  npx runsheet run gate',
    );
    expect((await project.runsheet(['show', 'nosuch'], { env })).err).toContain('`npx runsheet list` shows');
    expect((await project.runsheet(['show', id], { env })).out).toContain('next       npx runsheet run');
    expect((await project.runsheet(['show', id, '--json'], { env })).out).toContain('"runsheet run');
    expect((await project.runsheet(['start', 'gate.yaml', '--key', 'c'])).err).toContain('  runsheet run gate');
  });
});

describe('the output of a worker whose reader goes away', () => {
  it('stops it in order: the step ends, the run is handed back, and the code says so', async () => {
    const project = new Project({
      'package.json': '{}',
      'definitions/slow.yaml': 'workflow: slow\nsteps:\n  - step: slow\n',
      'handlers/h.mjs': `import { existsSync, appendFileSync } from 'node:fs';
export default [{ name: 'slow', async run() {
  appendFileSync('log', 'begun ');
  while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
  appendFileSync('log', 'ended ');
  return 1;
} }];\n`,
    });
    await project.runsheet(['start', 'slow', '--key', 's', '--handlers', 'handlers']);
    const worker = spawn(process.execPath, [builtCommand(), 'worker', '--json'], { cwd: project.folder });
    let err = '';
    worker.stderr.on('data', (data) => (err += String(data)));
    let seen = '';
    await new Promise<void>((resolve) => {
      worker.stdout.on('data', (data) => {
        seen += String(data);
        if (seen.includes('step:started')) resolve();
      });
    });
    worker.stdout.destroy();
    const ended = new Promise<number | null>((resolve) => worker.on('exit', resolve));
    // Something has to be written for the loss to be seen.
    await project.runsheet(['start', 'slow', '--key', 't']);
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (!project.exists('log') || (project.read('log').match(/begun/g)?.length ?? 0) < 1) return;
        clearInterval(look);
        resolve();
      }, 20);
    });
    project.write('go', '');
    expect(await ended).toBe(1);
    expect(err).toContain('so the worker has stopped');
    const [begun, over] = [/begun/g, /ended/g].map((word) => project.read('log').match(word)?.length ?? 0);
    expect(over).toBe(begun);
  }, 60_000);
});
