import { expect, it } from 'vitest';
import { Project } from './project.js';

const handlers = `export default [{
  name: 'down',
  run() {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8099'), { code: 'ECONNREFUSED' });
    throw new TypeError('fetch failed', { cause: refused });
  },
}];\n`;

it('run, show and logs say what a failure came from', async () => {
  const project = new Project({
    'handlers/h.mjs': handlers,
    'f.yaml': 'workflow: f\nsteps:\n  - step: down\n    retry: { attempts: 2, delay: 1ms }\n',
  });
  const said = 'TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:8099';
  const run = await project.runsheet(['run', 'f.yaml', '--key', 'k']);
  expect(run.err).toMatch(new RegExp(`retrying .*${said}; again in`));
  expect(run.err).toMatch(new RegExp(`failed {4}.*${said}\n`));
  expect(run.err).toMatch(new RegExp(`^wf_\\w+ failed: ${said}\n`, 'm'));
  const shown = await project.runsheet(['show', 'k']);
  expect(shown.out).toMatch(new RegExp(`^error +${said} \\(in down@0, attempt 2\\)$`, 'm'));
  expect(shown.out).toMatch(new RegExp(`^ +error +${said}$`, 'm'));
  const logs = await project.runsheet(['logs', 'k']);
  expect(logs.out.match(new RegExp(`failed: ${said}`, 'g'))?.length).toBeGreaterThanOrEqual(2);
  expect((await project.runsheet(['graph', 'k'])).out).toContain('fetch failed: connect ECONNREFUSED');
  const live = await project.runsheet(['run', 'f.yaml'], {
    isTerminal: true,
    env: { TERM: 'xterm' },
    size: { columns: 120, rows: 24 },
  });
  expect(live.err).toContain('connect ECONNREFUSED 127.0.0.1:8099');
});
