import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { typed } from './on-path.js';
import { Project, notingHandlers } from './project.js';
import { startCommand } from './running-command.js';

const flows = {
  'definitions/order.yaml': `
workflow: order
steps:
  - id: charge
    step: note
    with: { text: charge }
    compensate: { step: unless-mended, retry: { attempts: 1 } }
  - fail: OutOfStock
`,
  'definitions/approval.yaml': `
workflow: approval
steps:
  - id: decision
    waitFor: decision
    timeout: never
    schema: { type: object, properties: { approved: { type: boolean } }, required: [approved] }
output: =$steps.decision.approved
`,
  'definitions/campaign.yaml': `
workflow: campaign
steps:
  - sleep: 100ms
  - step: note
    with: { text: campaign }
`,
  'definitions/poison.yaml': `
workflow: poison
steps:
  - id: first
    step: note
    with: { text: before }
  - id: convert
    step: convert
    retry: { attempts: 1 }
output: =$steps.convert
`,
  'handlers/all.ts': notingHandlers,
  'handlers/convert.js': `
import { existsSync } from 'node:fs';
export default {
  name: 'convert',
  run() {
    if (existsSync('memory-added')) return 'converted';
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  },
};
`,
};

/** The runs there are, by workflow. */
async function runs(project: Project): Promise<Record<string, { id: string; status: string }>> {
  const { out } = await project.runsheet(['list', '--json']);
  const listed = (JSON.parse(out) as { runs: { id: string; workflow: string; status: string }[] }).runs;
  // The newest of each workflow.
  return Object.fromEntries(listed.reverse().map((run) => [run.workflow, run]));
}

/** The commands that another one has printed. */
function proposed(text: string): string[] {
  return [...text.matchAll(/(?:^|[`\s])(runsheet (?!list)[^\n`]+)/g)].map(([, command = '']) => command.trim());
}

/** Back-offs after a death grow to minutes: the night passes in the database. */
function skipBackOff(project: Project): void {
  const db = new Database(project.path('.runsheet/runs.db'));
  db.exec(`update run set due_at = 0 where ended_at is null and owner is null and workflow = 'poison'`);
  db.close();
}

describe("an operator's evening", () => {
  it(
    'finds four runs that are stuck in four ways, and moves each on by what the commands say',
    { timeout: 30 * 60_000 },
    async () => {
      const project = new Project(flows);

      // The day: one run cannot be undone, one waits for a signal that nobody sends, one loses its flow …
      expect(typed(project, 'runsheet run order --no-wait').code).toBe(6);
      expect(typed(project, 'runsheet run approval --no-wait').code).toBe(6);
      expect(typed(project, 'runsheet run campaign --no-wait').code).toBe(6);
      rmSync(project.path('definitions/campaign.yaml'));
      // … and one takes its worker down again and again, until it is given up.
      typed(project, 'runsheet start poison');
      let deaths = 0;
      while ((await runs(project)).poison?.status !== 'failed' && deaths < 20) {
        const worker = startCommand(builtCommand(), project, ['worker', '--workflows', 'poison']);
        const gaveUp = worker.told('failed').then(() => worker.child.kill('SIGTERM'));
        // It has taken over from the dead one by then.
        await worker.told('Ctrl-C stops').catch(() => {});
        skipBackOff(project);
        const { signal } = await worker.ended;
        await gaveUp.catch(() => {});
        if (signal === 'SIGKILL') deaths += 1;
      }
      expect(deaths).toBeGreaterThanOrEqual(10);

      // The evening: the doctor names what is wrong, and what to type.
      const report = typed(project, 'runsheet doctor');
      expect(report.code).toBe(1);
      const [showStuck = '', adopt = ''] = proposed(report.out);
      expect(report.out).toMatch(/could not undo a step[\s\S]*campaign revision 1 without its flow/);

      // Stuck in its undoing: `show` says why and offers two ways out; one of them, once the cause is mended.
      const stuck = typed(project, showStuck);
      expect(stuck.out).toContain('compensation-stuck');
      expect(stuck.out).toContain('broken');
      const [resumeUndoing = ''] = proposed(stuck.out);
      project.write('mended', '');
      expect(typed(project, resumeUndoing).code).toBe(0);

      // Waiting: the list shows it, `show` has the command with a place for the answer.
      expect(typed(project, 'runsheet list --status waiting').out).toContain('approval');
      const waiting = typed(project, `runsheet show ${(await runs(project)).approval?.id}`);
      const [answer = ''] = proposed(waiting.out);
      expect(answer).toContain('<boolean>');
      expect(typed(project, answer.replace('<boolean>', 'true')).code).toBe(0);

      // Given up after ten interruptions: `show` says so, and the command that goes on from there.
      expect(typed(project, 'runsheet list --status failed').out).toContain('poison');
      const poison = typed(project, `runsheet show ${(await runs(project)).poison?.id}`);
      expect(poison.out).toContain('Interrupted');
      const [goOn = ''] = proposed(poison.out);
      project.write('memory-added', '');
      expect(typed(project, goOn).code).toBe(0);

      // The run without its flow goes on from what is stored with it; the same worker ends all the others.
      const worker = startCommand(builtCommand(), project, adopt.split(' ').slice(1));
      const signs = ['undone     order/charge', 'completed  approval', 'completed  campaign', 'completed  poison'];
      await Promise.all(signs.map((sign) => worker.told(sign)));
      worker.child.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);

      expect(await runs(project)).toMatchObject({
        order: { status: 'failed', rollbackStatus: 'completed', error: { name: 'OutOfStock' } },
        approval: { status: 'completed', output: true },
        campaign: { status: 'completed' },
        poison: { status: 'completed', output: 'converted' },
      });
      expect(typed(project, 'runsheet doctor').code).toBe(0);
      // What had been done before was not done again.
      expect(project.read('calls.txt').match(/^before /gm)).toHaveLength(1);
    },
  );
});
