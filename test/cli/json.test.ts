import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Interruption } from '../../src/cli/io.js';
import { Project } from './project.js';
import { words } from './session.js';
import { linesOfAllKinds, shop } from './shop.js';

interface Line {
  readonly line: string;
  readonly code?: number;
  /** It follows something: an object a line. */
  readonly inLines?: true;
}

/** In this order, in one project. */
const lines: readonly Line[] = [
  { line: 'validate' },
  { line: 'explain RS2013' },
  { line: 'test', code: 1 },
  { line: 'hash definitions/注文.yaml' },
  { line: 'diff definitions/注文.yaml' },
  { line: 'handlers' },
  { line: `run order --input '{ "item": "茶碗", "total": 7 }'` },
  { line: `run order --input '{ "item": "茶碗", "total": 13 }'`, code: 1 },
  { line: 'run report --no-wait', code: 6 },
  { line: 'start report' },
  { line: 'list' },
  { line: 'show 大きな注文' },
  { line: 'logs 注文-42', inLines: true },
  { line: `signal 大きな注文 approval --data '{ "approved": true, "by": "花子" }'` },
  { line: 'cancel 大きな注文' },
  { line: 'resume plain' },
  { line: 'compensation resume 割れた皿-7' },
  { line: 'compensation abandon 皿-8' },
  { line: 'worker --workflows report', inLines: true },
  { line: 'recover' },
  { line: 'schedules' },
  { line: 'schedules pause report morning' },
  { line: 'schedules resume report morning' },
  { line: 'schedules trigger report morning' },
  { line: 'archive --older-than 1s' },
  { line: 'cleanup --older-than 1s' },
  { line: 'doctor' },
  { line: 'migrate' },
];

/** The options of `runsheet diff --help` and so on are golden files. */
const helpFolder = new URL('golden/help/', import.meta.url);

it('has every command with --json print objects of version 1 on stdout, and nothing else', async () => {
  const withJson = readdirSync(helpFolder)
    .filter(
      (file) => !/columns|typos/.test(file) && /^ +--json /m.test(readFileSync(new URL(file, helpFolder), 'utf8')),
    )
    .map((file) => file.replace('.txt', ''));
  const called = lines.map(({ line }) => withJson.find((name) => `${line} `.startsWith(`${name.replace('-', ' ')} `)));
  expect(
    withJson.filter(
      (name) => !called.includes(name) && !lines.some(({ line }) => line.replace(' ', '-').startsWith(name)),
    ),
  ).toEqual([]);

  const plain = `workflow: plain
steps:
  - id: charge
    step: payments.charge
    with: { amount: 13 }
    retry: { attempts: 1 }
`;
  const project = new Project({ ...shop, 'definitions/plain.yaml': plain });
  for (const line of [...linesOfAllKinds, 'runsheet run plain --key plain'])
    await project.runsheet(words(line).slice(1));
  await project.runsheet(words(linesOfAllKinds[3]?.replace('割れた皿-7', '皿-8') ?? '').slice(1));

  for (const { line, code = 0, inLines = false } of lines) {
    // What a worker has to say on stderr is nothing: it is stopped once it says that it has begun.
    const onOutput = (out: string, interrupt: (signal?: Interruption) => void): void => {
      if (out.includes('worker:started') && !out.includes('worker:stopping')) interrupt('SIGTERM');
    };
    const result = await project.runsheet([...words(line), '--json'], line.startsWith('worker') ? { onOutput } : {});
    expect({ line, code: result.code, err: result.code === code ? '' : result.err }).toEqual({ line, code, err: '' });
    const objects = inLines ? result.out.trimEnd().split('\n') : [result.out];
    for (const text of objects) expect(JSON.parse(text), line).toMatchObject({ version: 1 });
    expect(result.out.endsWith('\n'), line).toBe(true);
  }
});
