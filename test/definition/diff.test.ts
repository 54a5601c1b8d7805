import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Definition,
  diffDefinitions,
  readWorkflow,
  sealDefinition,
  walkItems,
} from '../../src/definition/index.js';
import { Source } from '../../src/syntax/index.js';

function definition(text: string): Definition {
  const { document, diagnostics } = readWorkflow(new Source('flow.yaml', text));
  if (document === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return sealDefinition(document);
}

function diff(before: string, after: string) {
  return diffDefinitions(definition(before), definition(after));
}

const order = `
workflow: order
input:
  total: { type: number, minimum: 0 }
constants: { limit: 100 }
steps:
  - id: charge
    step: payments.charge
    with: { amount: =$input.total, currency: EUR }
  - step: mail.send
    with: { to: shop }
  - id: big
    branch:
      - name: gold
        when: =$input.total > 100
        do:
          - id: gift
            step: stock.gift
      - else: []
`;

const changed = (from: string | RegExp, to: string): ReturnType<typeof diff> => {
  const after = order.replace(from, to);
  expect(after).not.toBe(order);
  return diff(order, after);
};

describe('what changed between two definitions', () => {
  it('is nothing where only layout, comments, labels and descriptions did', () => {
    const after = order.replace(
      'workflow: order',
      'workflow: order # ours\ndescription: Orders\nlabels: { team: shop }',
    );
    expect(diff(order, after)).toEqual({ same: true, document: [], items: [] });
  });

  it('names the field of an item, with what it was and is', () => {
    expect(changed('amount: =$input.total', 'amount: =$input.total * 100').items).toEqual([
      {
        kind: 'changed',
        key: 'charge',
        fields: [{ path: 'with.amount', before: '=$input.total', after: '=$input.total * 100' }],
      },
    ]);
    expect(changed('with: { to: shop }', 'with: { to: shop }\n    timeout: 20s').items).toEqual([
      { kind: 'changed', key: 'mail.send@1', fields: [{ path: 'timeout', after: '20s' }] },
    ]);
  });

  it('names what changed of the workflow itself', () => {
    const after = `
schedule:
  - { id: nightly, every: 1d, input: { total: 5 } }
revision: 2
${order.replace('minimum: 0', 'minimum: 1').replace('limit: 100', 'limit: 100, vat: 19')}`;
    expect(diff(order, after)).toMatchObject({
      same: false,
      document: expect.arrayContaining([
        { path: 'revision', after: 2 },
        { path: 'input.total.minimum', before: 0, after: 1 },
        { path: 'constants.vat', after: 19 },
        { path: 'schedule.nightly', after: { id: 'nightly', every: '1d', input: { total: 5 } } },
      ]) as unknown,
      items: [],
    });
  });

  it('tells an item that is new from those it shifts', () => {
    const { items } = changed('  - step: mail.send\n', '  - step: stock.reserve\n  - step: mail.send\n');
    expect(items).toEqual([{ kind: 'added', key: 'stock.reserve@1', verb: 'step', place: '1' }]);
  });

  it('says what is gone, by its old place', () => {
    const { items } = changed(/ {2}- step: mail\.send\n.*\n/, '');
    expect(items).toEqual([{ kind: 'removed', key: 'mail.send@1', verb: 'step', place: '1' }]);
  });

  it('finds by its id what was moved, and by its content what has none', () => {
    const before =
      'workflow: w\nsteps:\n  - { id: a, step: s }\n  - { id: b, step: t }\n  - step: u\n  - group: [{ step: v }]\n';
    const after =
      'workflow: w\nsteps:\n  - { id: b, step: t }\n  - { id: a, step: s }\n  - group: [{ step: v }, { step: u }]\n';
    const { items } = diff(before, after);
    expect(items).toHaveLength(2);
    expect(items).toContainEqual({ kind: 'moved', key: 'u@2.1', from: '2', to: '2.1' });
    expect([items[0]?.kind, items[0]?.key === 'a' || items[0]?.key === 'b']).toEqual(['moved', true]);
  });

  it('says that items were put into a group', () => {
    const before = 'workflow: w\nsteps:\n  - { id: a, step: s }\n';
    const after = 'workflow: w\nsteps:\n  - group: [{ id: a, step: s }]\n';
    expect(diff(before, after).items).toEqual([
      { kind: 'added', key: 'group@0', verb: 'group', place: '0' },
      { kind: 'moved', key: 'a', from: '0', to: '0.0' },
    ]);
  });

  it('knows a step that got an id', () => {
    const { items } = changed('- step: mail.send', '- id: mail\n    step: mail.send');
    expect(items).toEqual([{ kind: 'changed', key: 'mail', fields: [{ path: 'id', after: 'mail' }] }]);
  });

  it('names the condition of an arm, and an arm that is new', () => {
    expect(changed('=$input.total > 100', '=$input.total > 500').items).toEqual([
      {
        kind: 'changed',
        key: 'big',
        fields: [{ path: 'branch.0.when', before: '$input.total > 100', after: '$input.total > 500' }],
      },
    ]);
    const { items } = changed(
      '- name: gold',
      '- when: =$input.total > 900\n        do: [{ step: call }]\n      - name: gold',
    );
    expect(items).toEqual([
      { kind: 'changed', key: 'big', fields: [{ path: 'branch.0', after: { when: '$input.total > 900' } }] },
      { kind: 'added', key: 'call@2.0.0', verb: 'step', place: '2.0.0' },
    ]);
  });

  it('sees what is in the handling of errors', () => {
    const before = 'workflow: w\nsteps:\n  - step: s\n    onError: [{ errors: [Busy], do: [{ step: wait }] }]\n';
    const { items } = diff(before, before.replace('[Busy]', '[Down]').replace('wait', 'call'));
    expect(items).toEqual([
      { kind: 'changed', key: 's@0', fields: [{ path: 'onError.0.errors.0', before: 'Busy', after: 'Down' }] },
      { kind: 'added', key: 'call@0.onError.0.0', verb: 'step', place: '0.onError.0.0' },
      { kind: 'removed', key: 'wait@0.onError.0.0', verb: 'step', place: '0.onError.0.0' },
    ]);
  });

  const { steps } = fc.letrec<{ steps: object[]; item: object }>((tie) => ({
    steps: fc.array(tie('item'), { minLength: 1, maxLength: 4, depthIdentifier: 'items' }),
    item: fc.oneof(
      { depthIdentifier: 'items', maxDepth: 3 },
      fc.record({ step: fc.constantFrom('a', 'b'), with: fc.record({ n: fc.integer({ min: 0, max: 2 }) }) }),
      fc.record({ set: fc.integer({ min: 0, max: 2 }) }),
      fc.record({ group: tie('steps') }),
      fc.record({ parallel: fc.record({ x: tie('steps'), y: tie('steps') }, { requiredKeys: ['x'] }) }),
      fc.record({
        branch: fc.tuple(
          fc.record({ when: fc.constantFrom('=$input.p', '=$input.q'), do: tie('steps') }),
          fc.record({ else: tie('steps') }),
        ),
      }),
      fc.record({ step: fc.constant('c'), onError: fc.array(fc.record({ do: tie('steps') }), { maxLength: 2 }) }),
    ),
  }));
  /** Some of the items get an id, each its own. */
  const workflow = fc
    .record({ steps, finally: fc.option(steps, { nil: undefined }), named: fc.infiniteStream(fc.boolean()) })
    .map(({ steps: list, finally: last, named }) => {
      const document = { workflow: 'w', steps: structuredClone(list), ...(last && { finally: structuredClone(last) }) };
      const ids = ['p', 'q', 'r'];
      walkItems(document as never, ({ item }) => {
        const id = named.next().value ? ids.shift() : undefined;
        if (id !== undefined) item.id = id;
      });
      return sealDefinition(document as never);
    });

  it('is something exactly where the hashes differ, and leaves each item with at most one counterpart', () => {
    fc.assert(
      fc.property(workflow, workflow, (before, after) => {
        const { same, document, items } = diffDefinitions(before, after);
        expect(same).toBe(before.hash === after.hash);
        expect(document.length + items.length === 0).toBe(same);
        const count = (kind: string): number => items.filter((change) => change.kind === kind).length;
        expect(countOf(after) - count('added')).toBe(countOf(before) - count('removed'));
        expect(diffDefinitions(after, after)).toEqual({ same: true, document: [], items: [] });
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});

function countOf({ document }: Definition): number {
  let count = 0;
  walkItems(document, () => (count += 1));
  return count;
}
