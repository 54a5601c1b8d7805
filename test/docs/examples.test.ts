import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentSimulator } from '../../handlers/_payment-simulator.js';
import { Project } from '../cli/project.js';
import { type Page, page, root } from './manual.js';

afterEach(() => vi.unstubAllEnvs());

/** The files that a page shows, in a folder of their own, with its waits cut short. */
function projectOf({ blocks }: Page): Project {
  const files = blocks.flatMap(({ file, text }) =>
    file === undefined ? [] : [[file, text.replace(/sleep: \d+s/, 'sleep: 5ms')] as const],
  );
  const project = new Project(Object.fromEntries(files));
  project.installPackages();
  // The handlers of the manual use paths as people do, from where they are.
  const before = process.cwd();
  process.chdir(project.folder);
  onTestFinished(() => process.chdir(before));
  return project;
}

describe('README.md', () => {
  const readme = page('README.md');

  it('shows a flow that charges once and writes the receipt', async () => {
    const project = projectOf(readme);
    const payments = new PaymentSimulator();
    vi.stubEnv('PAYMENTS_URL', await payments.listen());
    onTestFinished(() => payments.close());
    // The charge goes through, but its answer is lost, so that it is asked for again.
    payments.plan([{ do: 'lose-answer' }]);

    const command = ['run', 'renew-subscription', '--key', 'july', '--input', '{"customer":"c-1","amountCents":1900}'];
    const first = await project.runsheet(command);
    expect(first.err).toContain('retrying');
    expect(first).toMatchObject({ code: 0 });
    const { receipt } = JSON.parse(first.out) as { receipt: string };
    expect(project.read(receipt)).toBe('c-1 paid 19 EUR\n');
    expect(payments.effects()).toMatchObject([{ path: '/charges', calls: 2 }]);
    expect(payments.effects()).toHaveLength(1);

    const second = await project.runsheet(command);
    expect(second.out).toBe(first.out);
    expect(payments.effects()).toMatchObject([{ calls: 2 }]);
  });

  it('shows what the checker says of four slips, word for word', async () => {
    const project = projectOf(readme);
    const flow = readme.blocks.find(({ file }) => file === 'definitions/renew-subscription.yaml')?.text ?? '';
    const slips: [string, string][] = [
      ['timeout: 20s', 'timeout: 20'],
      ['step: receipts.write', 'step: receipt.write'],
      ['id: charge', 'id: chrage'],
      ['text: =$input.customer & " paid " & $input.amountCents / 100 & " EUR"', 'text: $input.customer'],
    ];
    for (const [right] of slips) expect(flow).toContain(right);
    const wrong = slips.reduce((text, [right, slip]) => text.replace(right, slip), flow);
    project.write('definitions/renew-subscription.yaml', wrong);

    const { code, out } = await project.runsheet(['validate']);
    expect(code).toBe(1);
    const shown = readme.blocks.find(({ text }) => text.startsWith('$ npx runsheet validate\n'))?.text ?? '';
    expect(shown).not.toBe('');
    expect(out).toBe(shown.replace('$ npx runsheet validate\n', ''));
  });
});

describe('docs/guide/getting-started.md', () => {
  const guide = page('docs/guide/getting-started.md');

  it('counts lines and keeps the result', async () => {
    const project = projectOf(guide);
    project.write('a.txt', 'one\ntwo\n');
    project.write('b.txt', 'three\n');
    const { code, out, err } = await project.runsheet([
      'run',
      'census',
      '--input',
      '{"files":["a.txt","none","b.txt"]}',
    ]);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(JSON.parse(out)).toBe(3);
    expect(project.read('census.txt')).toBe('3 files, 3 lines\n');
  });

  it('tests its flow', async () => {
    const project = projectOf(guide);
    project.write(
      'definitions/census.yaml',
      project.read('definitions/census.yaml').replace('sleep: 5ms', 'sleep: 2s'),
    );
    expect(await project.runsheet(['validate'])).toMatchObject({ code: 0 });
    expect(await project.runsheet(['test'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('2 tests, all passed'),
    });
  });

  it.each(['files.cuont', 'sleep: 2', 'file: $input.report'])('catches %s', async (slip) => {
    const project = projectOf(guide);
    const flow = project.read('definitions/census.yaml');
    const wrong = flow
      .replace('files.count', slip.startsWith('files.') ? slip : 'files.count')
      .replace('sleep: 5ms', slip.startsWith('sleep:') ? slip : 'sleep: 5ms')
      .replace('file: =$input.report', slip.startsWith('file:') ? slip : 'file: =$input.report');
    expect(wrong).not.toBe(flow);
    project.write('definitions/census.yaml', wrong);
    const { code, out } = await project.runsheet(['validate']);
    expect(code).toBe(1);
    expect(out).toContain('help:');
  });
});

describe('docs/guide/testing-flows.md', () => {
  const guide = page('docs/guide/testing-flows.md');

  it('shows tests that pass, and come to all of the flow but its timeout', async () => {
    const { code, out, err } = await projectOf(guide).runsheet(['test', '--coverage']);
    expect({ code, err }).toEqual({ code: 0, err: '4 tests, all passed\n' });
    expect(out).toContain('line 19: no test came to the timeout of decision\n');
    expect(out.match(/no test came to/g)).toHaveLength(1);
  });

  it('shows what is told of a wrong expectation, word for word', async () => {
    const project = projectOf(guide);
    const file = 'definitions/order.test.yaml';
    project.write(file, project.read(file).replace('output: { payment: p-1 }', 'output: { payment: p-2 }'));
    const { code, out } = await project.runsheet(['test']);
    expect(code).toBe(1);
    const shown = guide.blocks.find(({ language }) => language === 'text')?.text ?? '';
    expect(out).toContain(shown);
  });

  it('shows the same for test frameworks', async () => {
    const project = projectOf(guide);
    const code = guide.blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
    expect(code).toHaveLength(2);
    for (const text of code) project.write(`shown-${code.indexOf(text)}.test.ts`, text);
    project.write('vitest.config.mjs', vitestConfig);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run'],
      {
        cwd: project.folder,
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1' },
      },
    );
    expect(`${stdout}${stderr}`).toMatch(/Tests {2}5 passed/);
    expect(status).toBe(0);
  }, 120_000);
});

/** As in this project: the package is its sources. */
const vitestConfig = `export default {
  resolve: {
    alias: [
      { find: /^runsheet\\/testing$/, replacement: ${JSON.stringify(join(root, 'src/testing/index.ts'))} },
      { find: /^runsheet$/, replacement: ${JSON.stringify(join(root, 'src/index.ts'))} },
    ],
  },
  test: { include: ['*.test.ts'] },
};
`;
