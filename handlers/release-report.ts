import { join } from 'node:path';
import { defineHandler } from 'runsheet';
import { z } from 'zod';
import { writeWhole } from './_files.js';
import { table } from './_markdown.js';

export default defineHandler({
  name: 'release.report',
  description: 'Writes what a release check has found as Markdown.',
  input: z.strictObject({
    folder: z.string(),
    name: z.string(),
    version: z.string(),
    commit: z.string().nullable(),
    findings: z.array(z.object({ check: z.string(), blocks: z.boolean(), message: z.string() })),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).default({}),
  }),
  output: z.object({ file: z.string() }),
  async run({ input, idempotencyKey }) {
    const { folder, name, version, commit, findings, facts } = input;
    const blocking = findings.filter(({ blocks }) => blocks);
    const sections = [
      `# Release check: ${name} ${version}`,
      commit === null ? 'No commit.' : `Commit ${commit}.`,
      blocking.length === 0
        ? '**Ready.**'
        : `**Not ready**: ${blocking.length} of ${findings.length} findings must be mended first.`,
      ...(findings.length === 0
        ? []
        : [
            '## Findings',
            table(
              ['Check', 'Blocks', 'What'],
              findings.map(({ check, blocks, message }) => [check, blocks ? 'yes' : 'no', message]),
            ),
          ]),
      ...(Object.keys(facts).length === 0
        ? []
        : [
            '## Facts',
            table(
              ['What', 'Value'],
              Object.entries(facts).map(([fact, value]) => [fact, value ?? '–']),
            ),
          ]),
    ];
    const file = join(folder, 'report.md');
    await writeWhole(file, `${sections.join('\n\n')}\n`, idempotencyKey);
    return { file };
  },
});
