import assert from 'node:assert/strict';
import { type StorageCase, aLeasedRun, aRun, claim, idsOf, mustGet, now, unitOf } from './case.js';

export const runCases: readonly StorageCase[] = [
  {
    name: 'a new run is pending, due, unleased and as it was given',
    async run(make) {
      const storage = await make();
      const given = aRun({ key: 'order-1', input: '{"total":3.5}', dueAt: now + 5 });
      const { run, created } = await storage.enqueueRun(given);
      assert.equal(created, true);
      assert.deepEqual(run, {
        ...given,
        run: run.run,
        status: 'pending',
        rollbackStatus: null,
        output: null,
        error: null,
        startedAt: null,
        endedAt: null,
        owner: null,
        epoch: 0,
        leaseExpiresAt: null,
        inboxSeq: 0,
        parentId: null,
        parentStep: null,
        parentOccurrence: null,
        resumedFrom: null,
        resumedBy: null,
        interruptions: 0,
        scheduleId: null,
        archivedAt: null,
      });
      assert.ok(Number.isSafeInteger(run.run));
      assert.deepEqual(await storage.getRun(given.id), run);
      assert.deepEqual(await storage.getRunByKey('mail', 'order-1'), run);
    },
  },
  {
    name: 'the identity stays, and is the same for all who use the storage',
    async run(make) {
      const storage = await make();
      const identity = await storage.readIdentity();
      assert.ok(identity.length >= 16);
      assert.equal(await storage.readIdentity(), identity);
    },
  },
  {
    name: 'a new run whose id is taken gets the next that is free, where it may',
    async run(make) {
      const storage = await make();
      const { id } = (await storage.enqueueRun(aRun())).run;
      const nextId = (attempt: number): string => (attempt === 1 ? id : `${id}-${attempt}`);
      const { run, created } = await storage.enqueueRun(aRun({ id, nextId, key: 'k' }));
      assert.deepEqual([created, run.id, run.key], [true, `${id}-2`, 'k']);
      assert.deepEqual(await storage.getRun(`${id}-2`), run);
      const again = await storage.enqueueRun(aRun({ id, nextId, key: 'k' }));
      assert.deepEqual([again.created, again.run.id], [false, run.id]);
      await assert.rejects(storage.enqueueRun(aRun({ id })), { name: 'RunsheetError' });
    },
  },
  {
    name: 'run keys ascend in order of insertion',
    async run(make) {
      const storage = await make();
      const first = await storage.enqueueRun(aRun());
      const others = await Promise.all([aRun(), aRun(), aRun()].map((run) => storage.enqueueRun(run)));
      const keys = [first, ...others].map(({ run }) => run.run);
      assert.deepEqual(
        keys,
        [...new Set(keys)].sort((a, b) => a - b),
      );
    },
  },
  {
    name: 'a key that is taken returns the run that has it, even after its end, and inserts nothing',
    async run(make) {
      const storage = await make();
      const first = await aLeasedRun(storage, { key: 'order-1' });
      await storage.commitUnits([
        unitOf(first, {
          transition: {
            kind: 'end',
            status: 'completed',
            output: '1',
            error: null,
            rollbackStatus: null,
            endedAt: now,
          },
        }),
      ]);
      const second = aRun({ key: 'order-1', input: '{"other":true}' });
      const again = await storage.enqueueRun(second);
      assert.equal(again.created, false);
      assert.equal(again.run.id, first.id);
      assert.equal(again.run.status, 'completed');
      assert.equal(await storage.getRun(second.id), undefined);
    },
  },
  {
    name: 'the same key asked for at once by many makes one run',
    async run(make) {
      const storage = await make();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => storage.enqueueRun(aRun({ key: 'only-once' }))),
      );
      assert.equal(answers.filter(({ created }) => created).length, 1);
      assert.equal(new Set(answers.map(({ run }) => run.id)).size, 1);
    },
  },
  {
    name: 'a key belongs to its workflow, and no key conflicts with nothing',
    async run(make) {
      const storage = await make();
      const created = await Promise.all([
        storage.enqueueRun(aRun({ key: 'k' })),
        storage.enqueueRun(aRun({ key: 'k', workflow: 'post', definitionHash: 'hash-post-1' })),
        storage.enqueueRun(aRun()),
        storage.enqueueRun(aRun()),
      ]);
      assert.deepEqual(
        created.map((answer) => answer.created),
        [true, true, true, true],
      );
      assert.equal(await storage.getRunByKey('post', 'other'), undefined);
      assert.equal((await storage.getRunByKey('post', 'k'))?.id, created[1]?.run.id);
    },
  },
  {
    name: 'an id that exists is refused and does not replace the run that has it',
    async run(make) {
      const storage = await make();
      const first = aRun({ input: '"first"' });
      await storage.enqueueRun(first);
      await assert.rejects(storage.enqueueRun({ ...first, input: '"second"' }), { name: 'RunsheetError' });
      assert.equal((await mustGet(storage, first)).input, '"first"');
    },
  },
  {
    name: 'text survives exactly: quotes, emoji, NUL, lone letters of every plane, a megabyte',
    async run(make) {
      const storage = await make();
      const input = JSON.stringify({
        quote: `'"\\`,
        nul: 'a\u0000b',
        emoji: '👩‍🚀𐍈',
        long: 'ä'.repeat(1 << 20),
      });
      const { run } = await storage.enqueueRun(aRun({ key: `k'"👩‍🚀`, input }));
      assert.equal((await mustGet(storage, run)).input, input);
      assert.equal((await storage.getRunByKey('mail', `k'"👩‍🚀`))?.id, run.id);
    },
  },
  {
    name: 'runs are listed newest first, and pages neither skip nor repeat runs made at the same time',
    async run(make) {
      const storage = await make();
      const made: string[] = [];
      for (let index = 0; index < 25; index += 1) {
        const { run } = await storage.enqueueRun(aRun({ createdAt: now + Math.floor(index / 7) }));
        made.unshift(run.id);
      }
      const listed: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await storage.listRuns({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
        listed.push(...idsOf(page.runs));
        // A newcomer in the middle of it belongs to the first page, which has been read.
        await storage.enqueueRun(aRun({ createdAt: now + 100 }));
        cursor = page.cursor;
        pages += 1;
      } while (cursor !== undefined);
      assert.deepEqual(listed, made);
      assert.equal(pages, 7);
    },
  },
  {
    name: 'the last page has no cursor, also when it is full; a cursor of one’s own making is refused',
    async run(make) {
      const storage = await make();
      await storage.enqueueRun(aRun());
      await storage.enqueueRun(aRun());
      const page = await storage.listRuns({ limit: 2 });
      assert.equal(page.runs.length, 2);
      assert.ok(!('cursor' in page));
      await assert.rejects(storage.listRuns({ cursor: 'page 2' }), { code: 'RS_OPTIONS_INVALID' });
    },
  },
  {
    name: 'lists by workflow, by states, and by time of creation (inclusive)',
    async run(make) {
      const storage = await make();
      const old = await storage.enqueueRun(aRun({ createdAt: now - 1 }));
      const post = await storage.enqueueRun(aRun({ workflow: 'post', definitionHash: 'hash-post-1' }));
      const leased = await aLeasedRun(storage);
      assert.deepEqual(idsOf((await storage.listRuns({ workflow: 'post' })).runs), [post.run.id]);
      assert.deepEqual(idsOf((await storage.listRuns({ statuses: ['running', 'failed'] })).runs), [leased.id]);
      assert.deepEqual(idsOf((await storage.listRuns({ since: now })).runs), [leased.id, post.run.id]);
      assert.deepEqual(idsOf((await storage.listRuns({ workflow: 'mail', statuses: ['pending'] })).runs), [old.run.id]);
      assert.deepEqual((await storage.listRuns({ statuses: [] })).runs, []);
    },
  },
  {
    name: 'a definition is stored once; storing it again changes nothing',
    async run(make) {
      const storage = await make();
      const definition = {
        hash: 'h',
        workflow: 'mail',
        revision: 3,
        document: '{"name":"mail"}',
        source: 'name: mail # 👋',
        storedAt: now,
      };
      await storage.storeDefinition(definition);
      await storage.storeDefinition({ ...definition, source: null, storedAt: now + 1 });
      assert.deepEqual(await storage.readDefinition('h'), definition);
      assert.equal(await storage.readDefinition('other'), undefined);
    },
  },
  {
    name: 'names the other definitions of a revision that an unfinished run is on',
    async run(make) {
      const storage = await make();
      const finished = await aLeasedRun(storage, { definitionHash: 'hash-mail-1-finished' });
      await storage.commitUnits([
        unitOf(finished, {
          transition: { kind: 'end', status: 'failed', output: null, error: '{}', rollbackStatus: null, endedAt: now },
        }),
      ]);
      const waiting = await aLeasedRun(storage, { definitionHash: 'hash-mail-1-b' });
      await storage.commitUnits([unitOf(waiting, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      for (const definitionHash of ['hash-mail-1-a', 'hash-mail-1-a', 'hash-mail-1-c']) {
        await storage.enqueueRun(aRun({ definitionHash }));
      }
      await storage.enqueueRun(aRun({ definitionHash: 'hash-mail-2', revision: 2 }));
      await storage.enqueueRun(aRun({ definitionHash: 'hash-post-1', workflow: 'post' }));
      assert.deepEqual(await storage.unfinishedHashes('mail', 1, 'hash-mail-1-a'), ['hash-mail-1-b', 'hash-mail-1-c']);
      assert.deepEqual(await storage.unfinishedHashes('mail', 9, 'x'), []);
    },
  },
  {
    name: 'the next due time is the earliest of the open runs of these definitions, leases by their expiry',
    async run(make) {
      const storage = await make();
      assert.equal(await storage.nextDueAt(['hash-mail-1']), undefined);
      assert.equal(await storage.nextDueAt([]), undefined);
      const leased = await aLeasedRun(storage);
      assert.equal(await storage.nextDueAt(['hash-mail-1']), leased.leaseExpiresAt);
      await storage.enqueueRun(aRun({ dueAt: now + 7 }));
      await storage.enqueueRun(aRun({ dueAt: now + 3, definitionHash: 'hash-post-1', workflow: 'post' }));
      assert.equal(await storage.nextDueAt(['hash-mail-1']), now + 7);
      assert.equal(await storage.nextDueAt(['hash-mail-1', 'hash-post-1']), now + 3);
      await storage.commitUnits([unitOf(leased, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      assert.equal(await storage.nextDueAt(['hash-mail-1']), now + 7);
    },
  },
  {
    name: 'a closed storage refuses everything by name',
    async run(make) {
      const storage = await make();
      await storage.close();
      await storage.close();
      const stopped = { code: 'RS_ENGINE_STOPPED' };
      await assert.rejects(storage.enqueueRun(aRun()), stopped);
      await assert.rejects(claim(storage), stopped);
      await assert.rejects(storage.getRun('wf_1'), stopped);
      await assert.rejects(storage.commitUnits([unitOf({ run: 1, epoch: 1, owner: 'engine-a' })]), stopped);
    },
  },
];
