import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { Project } from './project.js';
import { type Running, startCommand } from './running-command.js';

const command = builtCommand();

const flow = 'workflow: f\nsteps:\n  - step: greet\n';
const handlers = (name: string): string =>
  `import { name } from './_name.mjs';\nexport default { name, description: '${name}', run: () => null };\n`;

function project(): Project {
  return new Project({
    'definitions/f.yaml': flow,
    'handlers/greet.mjs': handlers('greet'),
    'handlers/_name.mjs': 'export const name = "greet";\n',
  });
}

/** Waits until it has looked so many times. */
const looked = (watching: Running, times: number): Promise<void> =>
  watching.told('watching for changes; Ctrl-C ends\n', times);

describe('runsheet validate --watch', () => {
  it('checks again when a flow is changed, added or broken, until Ctrl-C', async () => {
    const files = project();
    const watching = startCommand(command, files, ['validate', '--watch']);
    await looked(watching, 1);
    expect(watching.out()).toBe('');
    files.write('definitions/f.yaml', flow.replace('greet', 'gret'));
    await watching.printed('definitions/f.yaml:3:11: error RS4007');
    await looked(watching, 2);
    files.write('definitions/g.yaml', 'workflow: g\nsteps:\n  - sleep: 5\n');
    await watching.printed('definitions/g.yaml:3:12: error RS2013');
    await looked(watching, 3);
    watching.child.kill('SIGINT');
    expect(await watching.ended).toMatchObject({ code: 130 });
  });

  it('loads handlers anew, also where only what they import was changed, and outlives a broken one', async () => {
    const files = project();
    const watching = startCommand(command, files, ['validate', '--watch', '--json']);
    await looked(watching, 1);
    files.write('handlers/_name.mjs', 'export const name = "welcome";\n');
    await watching.printed('there is no handler \\"greet\\"');
    await looked(watching, 2);
    files.write('handlers/_name.mjs', 'nonsense here');
    await watching.told('handlers/greet.mjs');
    await looked(watching, 3);
    files.write('handlers/_name.mjs', 'export const name = "greet";\n');
    await looked(watching, 4);
    const lines = watching.out().trimEnd().split('\n');
    const counts = lines.map((line) => (JSON.parse(line) as { diagnostics: unknown[] }).diagnostics.length);
    // A slow disk may make two changes of one.
    expect(counts.filter((count, index) => count !== counts[index - 1])).toEqual([0, 1, 0]);
    watching.child.kill('SIGTERM');
    expect(await watching.ended).toMatchObject({ code: 0 });
  });

  it('follows files, not stdin', async () => {
    const { code, err } = await project().runsheet(['validate', '-', '--watch']);
    expect({ code, err }).toEqual({ code: 2, err: 'error: --watch follows files; it cannot follow stdin\n' });
  });
});
