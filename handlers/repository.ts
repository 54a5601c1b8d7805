import { join } from 'node:path';
import { NonRetryableError, defineHandler } from 'runsheet';
import { z } from 'zod';
import { CommandFailed, runCommand } from './_commands.js';
import { readText } from './_files.js';

const status = defineHandler({
  name: 'git.status',
  description: 'Says which commit a repository is on and what in it is not committed. Changes nothing.',
  input: z.strictObject({ repository: z.string() }),
  output: z.object({
    commit: z.string().nullable().describe('null before the first commit'),
    branch: z.string().nullable().describe('null where HEAD is detached'),
    clean: z.boolean(),
    changes: z.array(z.string()).describe('paths that differ from the commit, untracked ones included'),
  }),
  errors: ['NotARepository', 'CommandMissing', 'CommandFailed'],
  async run({ input: { repository }, signal }) {
    const options = { cwd: repository, signal, env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' } };
    const args = ['status', '--porcelain=v2', '--branch', '--untracked-files=all', '-z', '--', '.'];
    try {
      return parseStatus(await runCommand('git', args, options));
    } catch (error) {
      if (error instanceof CommandFailed && error.details.stderr.includes('not a git repository')) {
        throw new NonRetryableError(`${repository} is no git repository`, { name: 'NotARepository', cause: error });
      }
      throw error;
    }
  },
});

/** Porcelain v2 with `-z`: records end with NUL, and a rename is followed by the old path as a record of its own. */
function parseStatus(text: string) {
  const header = new Map<string, string>();
  const changes: string[] = [];
  const records = text.split('\0').values();
  for (const record of records) {
    const [kind, ...fields] = record.split(' ');
    if (kind === '#') header.set(fields[0] ?? '', fields.slice(1).join(' '));
    else if (kind === '1') changes.push(fields.slice(7).join(' '));
    else if (kind === 'u') changes.push(fields.slice(9).join(' '));
    else if (kind === '?') changes.push(fields.join(' '));
    else if (kind === '2') {
      changes.push(fields.slice(8).join(' '));
      records.next();
    }
  }
  const commit = header.get('branch.oid') ?? '(initial)';
  const branch = header.get('branch.head') ?? '(detached)';
  return {
    commit: commit === '(initial)' ? null : commit,
    branch: branch === '(detached)' ? null : branch,
    clean: changes.length === 0,
    changes,
  };
}

const changelog = defineHandler({
  name: 'changelog.read',
  description: 'Looks a version up in a changelog with headings like "## 1.2.0" or "## [1.2.0] - 2025-06-01".',
  input: z.strictObject({ repository: z.string(), version: z.string() }),
  output: z.object({
    found: z.boolean(),
    date: z.string().nullable().describe('that of the heading, if it has one'),
    entries: z.int().describe('list items under that heading'),
    newest: z.string().nullable().describe('the first version that is named'),
    unreleased: z.int().describe('list items under "Unreleased"'),
  }),
  errors: ['FileMissing'],
  async run({ input: { repository, version }, signal }) {
    const sections = (await readText(join(repository, 'CHANGELOG.md'), signal))
      .split(/^##(?!#)\s*/m)
      .slice(1)
      .map(parseSection);
    const section = sections.find(({ title }) => title === version);
    return {
      found: section !== undefined,
      date: section?.date ?? null,
      entries: section?.entries ?? 0,
      newest: sections.find(({ title }) => /^\d/.test(title))?.title ?? null,
      unreleased: sections.find(({ title }) => title.toLowerCase() === 'unreleased')?.entries ?? 0,
    };
  },
});

function parseSection(text: string): { title: string; date: string | null; entries: number } {
  const [heading = '', ...lines] = text.split('\n');
  const [, title = ''] = /^\[?v?([^\]\s]+)/.exec(heading) ?? [];
  const [date = null] = /\d{4}-\d{2}-\d{2}/.exec(heading) ?? [];
  return { title, date, entries: lines.filter((line) => /^[-*+] /.test(line)).length };
}

export default [status, changelog];
