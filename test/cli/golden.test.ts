import { describe, expect, it } from 'vitest';
import { widthOf } from '../../src/common/index.js';
import { type Shell, transcript } from './session.js';
import { linesOfAllKinds, run, shop } from './shop.js';

/** Runs of all kinds, with keys. */
function runsOfAllKinds({ stored }: Shell): Promise<void> {
  return stored(linesOfAllKinds);
}

const invalid = `workflow: 壊れた
steps:
  - id: charge
    step: payments.chrage
    with: { 金額: =$input.totl }
`;

const sessions: Readonly<Record<string, (shell: Shell) => Promise<void>>> = {
  async validate({ project, type }) {
    await type('runsheet validate');
    await type('runsheet validate definitions/注文.yaml');
    await type('runsheet validate --max-warnings 0 nosuch');
    project.write('definitions/壊れた.yaml', invalid);
    await type('runsheet validate definitions/壊れた.yaml');
    await type('runsheet validate --stdin-filename x.yaml');
  },
  async explain({ type }) {
    await type('runsheet explain 4001');
    await type('runsheet explain RS2999');
    await type('runsheet explain colour');
  },
  async test({ project, type }) {
    await type('runsheet test');
    await type('runsheet test --filter 大きな --coverage --coverage-min 90');
    await type('runsheet test --filter 茶');
    await type('runsheet test nosuch.test.yaml');
    project.write('definitions/report.test.yaml', 'workflow: ./reprt.yaml\ntests:\n  - name: 寝る\n    expct: {}\n');
    await type('runsheet test definitions/report.test.yaml');
    project.write(
      'definitions/注文.test.yaml',
      'workflow: ./注文.yaml\ntests:\n  - name: 高い\n    input: { item: 茶碗, total: 1 }\n    handlers:\n      stock.reserve: { returns: 済 }\n      payments.charge: { returns: 領収書 }\n    expect: { output: { item: 茶碗, receipt: 領収証 } }\n',
    );
    await type('runsheet test definitions/注文.test.yaml');
    await type('runsheet test --from-run 注文-42');
  },
  async hash({ project, type }) {
    await type('runsheet hash definitions/注文.yaml');
    await type('runsheet hash definitions');
    await type('runsheet hash 注文.yaml');
    project.write('definitions/壊れた.yaml', invalid);
    await type('runsheet hash definitions/壊れた.yaml');
  },
  async diff(shell) {
    const { project, type } = shell;
    project.write(
      '新しい.yaml',
      shop['definitions/注文.yaml'].replace('limit: 100', 'limit: 200').replace('timeout: 48h', 'timeout: 3d'),
    );
    await type('runsheet diff definitions/注文.yaml 新しい.yaml');
    await type('runsheet diff definitions/注文.yaml definitions/注文.yaml');
    await type('runsheet diff 新しい.yaml');
    await runsOfAllKinds(shell);
    await type('runsheet diff 新しい.yaml');
    project.write('新しい.yaml', project.read('新しい.yaml').replace('input:', 'revision: 2\ninput:'));
    await type('runsheet diff 新しい.yaml');
    await type('runsheet diff 新しい.yaml nosuch.yaml');
    await type('runsheet diff definitions 新しい.yaml');
  },
  async graph(shell) {
    const { type } = shell;
    await type('runsheet graph order');
    await type('runsheet graph order -o 注文.svg');
    await type('runsheet graph order -o 注文.png');
    await type('runsheet graph ordr');
    await runsOfAllKinds(shell);
    await type('runsheet graph 大きな注文 --format dot');
    await type('runsheet graph nosuch');
  },
  async handlers({ project, type }) {
    await type('runsheet handlers');
    await type('runsheet handlers nosuch');
    await type('runsheet handlers --types');
    await type('runsheet handlers --types --json');
    await type('runsheet handlers --handlers nosuch');
    project.write('handlers/壊れた.ts', 'export default 42;\n');
    await type('runsheet handlers');
    project.write('empty/readme.md', '');
    await type('runsheet handlers --handlers empty');
  },
  async run(shell) {
    const { project, type } = shell;
    await type(run(40, '注文-42'));
    await type(run(40, '注文-42'));
    await type(run(41, '注文-42'));
    await type(run(2000, '大きな注文'));
    await type(`runsheet run order --continue 大きな注文 --signal 'approval={ "approved": true, "by": "花子" }'`);
    await type(run(13, 'order-13'));
    await type(run(13, '割れた皿-7', '割れた皿'));
    await type('runsheet run order');
    await type("runsheet run order --input '{ item: 1 }'");
    await type('runsheet run order --input @nosuch.json');
    await type('runsheet run order --input \'{ "item": "茶碗", "total": 1 }\' --signal apprval');
    await type('runsheet run order --continue nosuch');
    await type('runsheet run order --continue 注文-42 --key x');
    await type('runsheet run order --timeout 5');
    await type('runsheet run ordr');
    await type('runsheet run 注文');
    await type('runsheet run definitions');
    await type('runsheet run order --definitions nosuch');
    project.write('definitions/壊れた.yaml', invalid);
    await type('runsheet run definitions/壊れた.yaml');
    project.write('not.db', 'this is not a database, but long enough to be looked at, as one would think'.repeat(20));
    // Storage names its whole path, which is as long as that of the folder.
    await type('runsheet run report --db not.db', { isTerminal: false });
    await type('runsheet run report --db postgres://localhost/runs');
  },
  async start({ project, type }) {
    await type(`runsheet start order --key 注文-42 --input '{ "item": "茶碗", "total": 40 }'`);
    await type(`runsheet start order --key 注文-42 --input '{ "item": "皿", "total": 40 }'`);
    await type('runsheet start report --at 2h');
    await type('runsheet start report --at tomorrow');
    await type('runsheet start order');
    await type('runsheet start ordr');
    project.write('definitions/注文.yaml', shop['definitions/注文.yaml'].replace('limit: 100', 'limit: 200'));
    await type(`runsheet start order --input '{ "item": "茶碗", "total": 40 }'`);
    await type('runsheet start order --handlers nosuch');
  },
  async list(shell) {
    const { type } = shell;
    await type('runsheet list');
    await runsOfAllKinds(shell);
    await type('runsheet list');
    await type('runsheet list --status waiting --limit 1');
    await type('runsheet list --workflow nosuch');
    await type('runsheet list --status done');
    await type('runsheet list --since yesterday');
    await type('runsheet list --limit 0');
    await type('runsheet list --cursor x');
  },
  async show(shell) {
    const { type } = shell;
    await type('runsheet show 注文-42');
    await runsOfAllKinds(shell);
    await type('runsheet show 注文-42');
    await type('runsheet show 大きな注文');
    await type('runsheet show order-13');
    await type('runsheet show 割れた皿-7');
    await type('runsheet show nosuch');
    await type('runsheet show');
  },
  async logs(shell) {
    const { type } = shell;
    await type('runsheet logs 注文-42');
    await runsOfAllKinds(shell);
    await type('runsheet logs 注文-42');
    await type('runsheet logs 割れた皿-7');
    await type('runsheet logs nosuch');
    await type('runsheet logs 注文-42 --since never');
  },
  async signal(shell) {
    const { type } = shell;
    await type('runsheet signal 大きな注文 approval');
    await runsOfAllKinds(shell);
    await type('runsheet signal 大きな注文 approval');
    await type("runsheet signal 大きな注文 approval --data '{ approved }'");
    await type("runsheet signal 大きな注文 approvl --data '{}'");
    await type(`runsheet signal 大きな注文 approval --data '{ "approved": true, "by": "花子" }'`);
    await type(`runsheet signal 大きな注文 approval --data '{ "approved": true, "by": "花子" }'`);
    await type(`runsheet signal 注文-42 approval --data '{ "approved": true, "by": "花子" }'`);
    await type('runsheet signal nosuch approval');
  },
  async cancel(shell) {
    const { type } = shell;
    await type('runsheet cancel 大きな注文');
    await runsOfAllKinds(shell);
    await type('runsheet cancel 大きな注文 --reason 二重注文');
    await type('runsheet cancel 大きな注文');
    await type('runsheet cancel 注文-42');
    await type('runsheet cancel 割れた皿-7');
    await type('runsheet cancel nosuch');
  },
  async resume(shell) {
    const { project, type, before } = shell;
    await runsOfAllKinds(shell);
    await type('runsheet resume order-13');
    await type('runsheet resume 注文-42');
    await type('runsheet resume 大きな注文');
    await type('runsheet resume nosuch');
    project.write(
      'definitions/plain.yaml',
      'workflow: plain\nsteps:\n  - id: charge\n    step: payments.charge\n    with: { amount: 13 }\n    retry: { attempts: 1 }\n',
    );
    await before('runsheet run plain --key plain');
    await type('runsheet resume plain');
    await type('runsheet resume plain');
  },
  async compensation(shell) {
    const { type } = shell;
    await type('runsheet compensation resume 割れた皿-7');
    await runsOfAllKinds(shell);
    await type('runsheet compensation resume 割れた皿-7');
    await type('runsheet compensation abandon 割れた皿-7');
    await type('runsheet compensation abandon 注文-42');
    await type('runsheet compensation abandon nosuch');
    await type('runsheet compensation');
  },
  async worker(shell) {
    const { project, type, before } = shell;
    await before(`runsheet start order --key 注文-42 --input '{ "item": "茶碗", "total": 40 }'`);
    const untilDone = (word: RegExp) => ({
      onProgress: (err: string, interrupt: (signal?: 'SIGINT' | 'SIGTERM') => void) => {
        if (word.test(err) && !/stopping/.test(err)) interrupt('SIGTERM');
      },
    });
    await type('runsheet worker --workflows order', untilDone(/completed\S* +order\s/));
    await type('runsheet worker --workflows ordr');
    await type('runsheet worker --concurrency none');
    await type('runsheet worker --definitions nosuch');
    project.write('definitions/壊れた.yaml', invalid);
    await type('runsheet worker');
  },
  async recover(shell) {
    const { project, type } = shell;
    await type('runsheet recover');
    await runsOfAllKinds(shell);
    await type('runsheet recover');
    project.write('definitions/注文.yaml', shop['definitions/注文.yaml'].replace('limit: 100', 'limit: 200'));
    await type('runsheet recover');
    project.write('definitions/壊れた.yaml', invalid);
    await type('runsheet recover');
  },
  async schedules(shell) {
    const { type } = shell;
    await type('runsheet schedules');
    await runsOfAllKinds(shell);
    await type('runsheet schedules --next 2');
    await type('runsheet schedules pause report morning');
    await type('runsheet schedules');
    await type('runsheet schedules resume report morning');
    await type('runsheet schedules trigger report 1');
    await type('runsheet schedules pause report evening');
    await type('runsheet schedules resume reprt morning');
    await type('runsheet schedules trigger report evening');
    await type('runsheet schedules --next many');
  },
  async cleanup(shell) {
    const { type, pass } = shell;
    await type('runsheet cleanup --older-than 7d');
    await runsOfAllKinds(shell);
    await type('runsheet cleanup --older-than 7d');
    pass(8 * 86_400_000);
    await type('runsheet cleanup --older-than 7d --status completed');
    await type('runsheet cleanup --older-than 7d');
    await type('runsheet cleanup');
    await type('runsheet cleanup --older-than week');
    await type('runsheet cleanup --older-than 7d --status waiting');
  },
  async archive(shell) {
    const { type, pass } = shell;
    await runsOfAllKinds(shell);
    pass(8 * 86_400_000);
    await type('runsheet archive --older-than 7d --status completed');
    await type('runsheet list --archived');
    await type('runsheet archive --older-than 7');
  },
  async init({ type }) {
    await type('runsheet init 新しい店');
    await type('runsheet init 新しい店');
  },
  async doctor(shell) {
    const { project, type } = shell;
    await type('runsheet doctor');
    await runsOfAllKinds(shell);
    await type('runsheet doctor');
    project.write('definitions/壊れた.yaml', invalid);
    project.write('definitions/注文.yaml', shop['definitions/注文.yaml'].replace('limit: 100', 'limit: 200'));
    await type('runsheet doctor');
    await type('runsheet doctor --handlers nosuch --definitions nosuch');
  },
  async migrate(shell) {
    const { type } = shell;
    await type('runsheet migrate');
    await runsOfAllKinds(shell);
    await type('runsheet migrate');
    await type('runsheet migrate --check');
  },
  async schema({ type }) {
    await type('runsheet schema flow');
  },
  async completion({ type }) {
    await type('runsheet completion powershell');
    await type('runsheet completion');
  },
  async config({ project, type }) {
    await type('runsheet list --config nosuch.yaml');
    project.write('runsheet.config.yaml', 'dbb: x\nconcurrency: many\nseverity: { RS9999: off }\n');
    await type('runsheet list');
    project.write('runsheet.config.ts', 'export default {};\n');
    await type('runsheet list');
  },
};

/** What is typed, and words that are copied whole: commands are broken between them only. */
function mayBeWide(line: string): boolean {
  return /^\$ runsheet /.test(line) || !/\S\s+\S/.test(line.trim().replace(/'[^']*'|\\$/g, 'x'));
}

describe('what commands say', () => {
  it.each(Object.entries(sessions))('%s', async (name, session) => {
    const text = await transcript(shop, session);
    await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
    const [, , uncolored = '', narrow = ''] = text.split(/^# /m).slice(1);
    expect(uncolored).not.toMatch(/⟨\w+⟩/);
    const lines = narrow.split('\n').map((line) => line.replace(/^2> /, ''));
    expect(lines.filter((line) => widthOf(line) > 60 && !mayBeWide(line))).toEqual([]);
  });
});
