import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../flows-support/temporary-folder.js';
import { CallDesk } from './workers/call-desk.js';
import { type WorkerOrder, WorkerProcess, canonicalOf } from './workers/worker-process.js';

/** Each revision says its number before it waits and after. */
const revision = (number: number, text = `revision ${number}`): string => `
workflow: upgraded
revision: ${number}
input: { desk: { type: string } }
steps:
  - step: desk.call
    with: { address: =$input.desk, label: ${text} begins }
  - id: gate
    waitFor: go
    timeout: never
  - step: desk.call
    with: { address: =$input.desk, label: ${text} ends }
output: ${text}
`;

/** A database, a folder of definitions, and processes that come with what lies in the folder. */
class Site {
  readonly folder = temporaryFolder();
  readonly database = join(this.folder, 'runs.db');
  readonly desk: CallDesk;

  private constructor(desk: CallDesk) {
    this.desk = desk;
  }

  static async open(): Promise<Site> {
    // Every call is answered at once; what counts is who calls.
    return new Site(await CallDesk.open((call) => call.answer()));
  }

  file(name: string, text: string): string {
    const file = join(this.folder, `${name}.yaml`);
    writeFileSync(file, text);
    return file;
  }

  process(name: string, flows: readonly string[], engine: WorkerOrder['engine'] = {}): Promise<WorkerProcess> {
    const { database } = this;
    return WorkerProcess.begin({ name, database, flows, engine: { concurrency: 4, ...engine } });
  }

  /** A process starts a run of revision 3 and is killed when it waits. */
  async parkedOnThree(): Promise<{ three: string; id: string }> {
    const three = this.file('three', revision(3));
    const old = await this.process('old', [three]);
    await old.ask('start');
    const id = await this.begin(old);
    await old.kill();
    return { three, id };
  }

  /** Gives the run once it waits. */
  async begin(worker: WorkerProcess): Promise<string> {
    const { id } = await worker.ask('enqueue', 'upgraded', { desk: this.desk.address });
    await expect.poll(() => this.row(id)?.['status']).toBe('waiting');
    return id;
  }

  async finish(worker: WorkerProcess, id: string): Promise<unknown> {
    await worker.ask('signal', id, 'go');
    const { status, output } = await worker.ask('result', id);
    expect(status).toBe('completed');
    return output;
  }

  row(id: string): Record<string, unknown> | undefined {
    const database = new Database(this.database, { readonly: true });
    try {
      return database.prepare('select * from run where id = ?').get(id) as Record<string, unknown> | undefined;
    } finally {
      database.close();
    }
  }
}

describe('a run that is parked on revision 3 when revision 4 comes', () => {
  test('ends on revision 3, while new runs are of revision 4', async () => {
    const site = await Site.open();
    const { three, id } = await site.parkedOnThree();
    const next = await site.process('next', [site.file('four', revision(4)), three]);
    expect(await next.ask('recover')).toMatchObject({ running: 0, waiting: 1, total: 1, definitionMissing: [] });
    await next.ask('start');
    const fresh = await site.begin(next);
    expect([await site.finish(next, id), await site.finish(next, fresh)]).toEqual(['revision 3', 'revision 4']);
    expect(site.desk.calls.map(({ label, worker }) => `${worker}: ${label}`)).toEqual([
      'old: revision 3 begins',
      'next: revision 4 begins',
      'next: revision 3 ends',
      'next: revision 4 ends',
    ]);
    await next.end();
  });

  test('stays untouched where its file is gone, and is named, until it is there again', async () => {
    const site = await Site.open();
    const { three, id } = await site.parkedOnThree();
    const text = revision(3);
    rmSync(three);
    const next = await site.process('next', [site.file('four', revision(4))]);
    const missing = { run: id, workflow: 'upgraded', revision: 3, hash: site.row(id)?.['definition_hash'] };
    expect(await next.ask('recover')).toMatchObject({ waiting: 0, total: 0, definitionMissing: [missing] });
    await next.ask('start');
    // It is due, but nobody takes it, whatever else is done meanwhile.
    await next.ask('signal', id, 'go');
    const due = site.row(id);
    expect(due).toMatchObject({ status: 'waiting', owner: null, epoch: 1 });
    expect(await site.finish(next, await site.begin(next))).toBe('revision 4');
    expect(await next.ask('tick')).toBe(0);
    expect(site.row(id)).toEqual(due);
    expect(await next.ask('recover')).toMatchObject({ definitionMissing: [missing] });

    await next.ask('register', canonicalOf(site.file('three', text)));
    expect((await next.ask('result', id)).output).toBe('revision 3');
    expect(await next.ask('recover')).toMatchObject({ definitionMissing: [] });
    await next.end();
  });

  test('ends on its stored document where that is allowed; new runs are never of it', async () => {
    const site = await Site.open();
    const { three, id } = await site.parkedOnThree();
    rmSync(three);
    const next = await site.process('next', [site.file('four', revision(4))], { adoptStoredDefinitions: true });
    expect(await next.ask('recover')).toMatchObject({ waiting: 1, definitionMissing: [] });
    await next.ask('start');
    expect(await site.finish(next, id)).toBe('revision 3');
    expect(await site.finish(next, await site.begin(next))).toBe('revision 4');
    await next.end();
  });

  test('on a document that somebody has changed in the database is not driven by it', async () => {
    const site = await Site.open();
    const { three, id } = await site.parkedOnThree();
    rmSync(three);
    const database = new Database(site.database);
    database.prepare(`update definition set document = replace(document, 'revision 3 ends', 'forged')`).run();
    database.close();
    const next = await site.process('next', [site.file('four', revision(4))], { adoptStoredDefinitions: true });
    expect(await next.ask('recover')).toMatchObject({ waiting: 0, definitionMissing: [{ run: id }] });
    await next.end();
  });
});

describe('the same revision with another content', () => {
  test('is refused while a run is on it, by every process, and accepted after that', async () => {
    const site = await Site.open();
    const { three, id } = await site.parkedOnThree();
    const changed = site.file('changed', revision(3, 'changed'));
    const refused = await site.process('refused', [changed]);
    await expect(refused.ask('start')).rejects.toMatchObject({ code: 'RS_DEFINITION_CONFLICT' });
    await refused.kill();
    // Labels and the order of keys are no content.
    const same = await site.process('same', [three]);
    await same.ask('start');
    await expect(same.ask('register', canonicalOf(changed))).rejects.toMatchObject({ code: 'RS_DEFINITION_CONFLICT' });
    expect(await site.finish(same, id)).toBe('revision 3');
    // One program never has two contents of a revision.
    await expect(same.ask('register', canonicalOf(changed))).rejects.toMatchObject({ code: 'RS_DEFINITION_CONFLICT' });
    await same.end();
    const next = await site.process('next', [changed]);
    await next.ask('start');
    expect(await site.finish(next, await site.begin(next))).toBe('changed');
    await next.end();
  });
});
