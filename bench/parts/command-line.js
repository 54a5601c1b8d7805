import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median } from '../lab.js';

const program = fileURLToPath(new URL('../../bin/runsheet.js', import.meta.url));

function timed(args) {
  const before = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const ms = performance.now() - before;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with exit code ${status}: ${stderr}`);
  return ms;
}

/** How long a command takes, in starts of bare node, which are measured in turn with it. */
function inStarts(lab, args, rounds) {
  const empty = `${lab.newFolder()}/empty.mjs`;
  writeFileSync(empty, '');
  const ratios = [];
  timed(args);
  for (let round = 0; round < rounds; round += 1) {
    const bare = median([timed([empty]), timed([empty]), timed([empty])]);
    ratios.push(timed(args) / bare);
  }
  return median(ratios);
}

function writeFlows(folder, { files, steps }) {
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < files; file += 1) {
    const items = Array.from(
      { length: steps },
      (_, index) =>
        `  - { id: s${index}, step: mail.send, with: { to: =$input.to, n: ${index === 0 ? 0 : `=$steps.s${index - 1}.n`} } }\n`,
    );
    writeFileSync(
      `${folder}/flow-${file}.yaml`,
      `workflow: flow-${file}\ninput:\n  to: { type: string }\nsteps:\n${items.join('')}`,
    );
  }
}

/** What a person waits for at the prompt. */
export async function measure(lab) {
  const rounds = lab.quick ? 5 : 15;
  const one = lab.newFolder();
  const many = lab.newFolder();
  const files = lab.quick ? 100 : 1000;
  writeFlows(one, { files: 1, steps: 50 });
  writeFlows(many, { files, steps: 50 });
  const row = (what, value, atMost) => ({
    work: 'command line',
    what,
    value,
    unit: 'starts of node',
    ...(atMost !== undefined && { target: { atMost } }),
  });
  return [
    row('--version', inStarts(lab, [program, '--version'], rounds), 1.5),
    row('--help', inStarts(lab, [program, '--help'], rounds), 1.5),
    row('validate, one file of 50 steps', inStarts(lab, [program, 'validate', '--no-handlers', one], rounds), 4),
    row(
      `validate, ${files} files of 50 steps`,
      inStarts(lab, [program, 'validate', '--no-handlers', many], lab.quick ? 1 : 3),
      lab.quick ? undefined : 40,
    ),
  ];
}
