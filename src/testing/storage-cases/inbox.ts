import assert from 'node:assert/strict';
import type { InboxView, NewInboxMessage } from '../../storage/index.js';
import { type StorageCase, aLeasedRun, aPost, aRun, anEntry, claim, end, mustGet, now, unitOf } from './case.js';

const message = { kind: 'signal', name: 'approved', payload: '{"by":"me"}', at: now + 10 };
const signal = aPost(message);

export const inboxCases: readonly StorageCase[] = [
  {
    name: 'messages are numbered within the run and read in order, after a seq',
    async run(make) {
      const storage = await make();
      const { run } = await storage.enqueueRun(aRun());
      const { run: other } = await storage.enqueueRun(aRun());
      const cancel = { kind: 'cancel', name: null, payload: null, at: now + 11 };
      const posted = (seq: number, given: NewInboxMessage) => ({ kind: 'posted', message: { seq, ...given } });
      assert.deepEqual(await storage.postInbox(run.id, signal), posted(1, message));
      assert.deepEqual(await storage.postInbox(other.id, signal), posted(1, message));
      assert.deepEqual(await storage.postInbox(run.id, aPost(cancel)), posted(2, cancel));
      assert.deepEqual(await storage.readInbox(run.run, 0), [
        { seq: 1, ...message },
        { seq: 2, ...cancel },
      ]);
      assert.deepEqual(await storage.readInbox(run.run, 1), [{ seq: 2, ...cancel }]);
      assert.equal((await mustGet(storage, run)).inboxSeq, 2);
    },
  },
  {
    name: 'a parked run becomes due at once; one that is due already keeps its place; a leased one keeps its lease',
    async run(make) {
      const storage = await make();
      const waiting = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(waiting, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      const sleeping = await aLeasedRun(storage);
      await storage.commitUnits([
        unitOf(sleeping, { transition: { kind: 'park', status: 'sleeping', dueAt: now + 9e6 } }),
      ]);
      const { run: pending } = await storage.enqueueRun(aRun({ dueAt: now - 5 }));
      const leased = await aLeasedRun(storage);
      for (const run of [waiting, sleeping, pending, leased]) await storage.postInbox(run.id, signal);
      const dueAt = async (run: { id: string }) => (await mustGet(storage, run)).dueAt;
      assert.equal(await dueAt(waiting), message.at);
      assert.equal(await dueAt(sleeping), message.at);
      assert.equal(await dueAt(pending), now - 5);
      assert.deepEqual(await mustGet(storage, leased), { ...leased, inboxSeq: 1 });
      assert.equal((await mustGet(storage, waiting)).status, 'waiting', 'until it is claimed');
      assert.equal((await claim(storage, { only: waiting.id, at: message.at })).length, 1);
    },
  },
  {
    name: 'a run that is unknown or has ended takes no message, and neither clock nor guard is asked',
    async run(make) {
      const storage = await make();
      const asked = (): never => assert.fail('asked');
      const unread = { ...signal, now: asked, guard: { steps: [], refuse: asked } };
      assert.deepEqual(await storage.postInbox('wf_none', unread), { kind: 'unknown' });
      const run = await aLeasedRun(storage);
      const ended = await end(storage, run, { status: 'cancelled' });
      assert.deepEqual(await storage.postInbox(run.id, unread), { kind: 'ended', run: ended });
      assert.deepEqual(await storage.readInbox(run.run, 0), []);
      assert.equal((await mustGet(storage, run)).dueAt, null);
    },
  },
  {
    name: 'a unit that has not seen the newest message is refused with the lease still held; without inboxSeq it is not',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      await storage.postInbox(run.id, signal);
      const park = { kind: 'park', status: 'waiting', dueAt: null } as const;
      const blind = unitOf(run, { entries: [anEntry(1)], transition: park, inboxSeq: 0 });
      assert.deepEqual(await storage.commitUnits([blind]), ['inbox-changed']);
      assert.deepEqual(await storage.readJournal(run.run, 0, 10), []);
      assert.equal((await mustGet(storage, run)).owner, 'engine-a');
      assert.deepEqual(await storage.commitUnits([unitOf(run, { entries: [anEntry(1)] })]), ['committed']);
      assert.deepEqual(
        await storage.commitUnits([unitOf(run, { entries: [anEntry(2)], transition: park, inboxSeq: 1 })]),
        ['committed'],
      );
    },
  },
  {
    name: 'a park that crosses a message is refused or woken, never asleep with mail',
    async run(make) {
      const storage = await make();
      for (let round = 0; round < 20; round += 1) {
        const run = await aLeasedRun(storage);
        const park = unitOf(run, { transition: { kind: 'park', status: 'waiting', dueAt: null }, inboxSeq: 0 });
        const asked = [() => storage.commitUnits([park]), () => storage.postInbox(run.id, signal)];
        if (round % 2 === 0) asked.reverse();
        const outcomes = await Promise.all(asked.map((ask) => ask()));
        const after = await mustGet(storage, run);
        if (outcomes.flat().includes('inbox-changed')) assert.equal(after.owner, 'engine-a');
        else assert.equal(after.dueAt, message.at);
      }
    },
  },
  {
    name: 'a guard sees the run, the time, all messages, and the entries of its items and of none',
    async run(make) {
      const storage = await make();
      const leased = await aLeasedRun(storage);
      const entries = [
        anEntry(1, { kind: 'run-started', step: null, occurrence: null }),
        anEntry(2, { step: 'charge' }),
        anEntry(3, { step: 'gate', kind: 'decision' }),
        anEntry(4, { step: 'gate', occurrence: '1' }),
        anEntry(5, { step: `it's "quoted"` }),
      ];
      await storage.commitUnits([unitOf(leased, { entries })]);
      await storage.postInbox(leased.id, signal);
      await storage.postInbox(leased.id, signal);
      const run = await mustGet(storage, leased);
      const views: InboxView[] = [];
      const look = async (steps: readonly string[]) =>
        storage.postInbox(leased.id, {
          ...signal,
          guard: {
            steps,
            refuse(view) {
              views.push(view);
              return 'no' as const;
            },
          },
        });
      assert.deepEqual(await look(['gate', `it's "quoted"`, 'other']), { kind: 'refused', refusal: 'no' });
      assert.deepEqual(await look([]), { kind: 'refused', refusal: 'no' });
      const messages = [1, 2].map((seq) => ({ seq, ...message }));
      const view = { run, now: message.at, messages };
      assert.deepEqual(views.at(0), { ...view, entries: [entries[0], ...entries.slice(2)] });
      assert.deepEqual(views.at(-1), { ...view, entries: [entries[0]] });
    },
  },
  {
    name: 'what a guard refuses, or throws at, leaves no trace; what it lets pass is stored at the time it saw',
    async run(make) {
      const storage = await make();
      const run = await aLeasedRun(storage);
      await storage.commitUnits([unitOf(run, { transition: { kind: 'park', status: 'waiting', dueAt: null } })]);
      const before = await mustGet(storage, run);
      const refused = await storage.postInbox(run.id, { ...signal, guard: { steps: [], refuse: () => ['too late'] } });
      assert.deepEqual(refused, { kind: 'refused', refusal: ['too late'] });
      const broken = { steps: [], refuse: (): undefined => assert.fail('broken guard') };
      const [failed, neighbour] = await Promise.allSettled([
        storage.postInbox(run.id, { ...signal, guard: broken }),
        storage.enqueueRun(aRun()),
      ]);
      assert.deepEqual([failed.status, neighbour.status], ['rejected', 'fulfilled']);
      assert.deepEqual(await mustGet(storage, run), before);
      assert.deepEqual(await storage.readInbox(run.run, 0), []);

      let time = now + 100;
      const seen: number[] = [];
      const passed = await storage.postInbox(run.id, {
        ...signal,
        now: () => (time += 1),
        guard: { steps: [], refuse: (view) => void seen.push(view.now) },
      });
      assert.equal(passed.kind, 'posted');
      assert.equal(passed.message.at, seen.at(-1));
      assert.equal((await mustGet(storage, run)).dueAt, passed.message.at);
    },
  },
  {
    name: 'a guard sees the messages that were posted at the same time before its own: of many, one gets in',
    async run(make) {
      const storage = await make();
      const { run } = await storage.enqueueRun(aRun());
      const once = {
        steps: [],
        refuse: ({ messages }: InboxView) => (messages.length > 0 ? ('already' as const) : undefined),
      };
      const results = await Promise.all(
        Array.from({ length: 20 }, () => storage.postInbox(run.id, { ...signal, guard: once })),
      );
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['posted', ...Array.from({ length: 19 }, () => 'refused')],
      );
      assert.equal((await storage.readInbox(run.run, 0)).length, 1);
    },
  },
];
