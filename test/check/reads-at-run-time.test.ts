import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/common/index.js';
import { stepNamesOf } from '../../src/check/step-names.js';
import type { FlowItem } from '../../src/check/flow-model.js';
import { courseOf } from '../../src/check/flow/course.js';
import { type Sight, Sights } from '../../src/check/flow/sight.js';
import { readFlow } from '../../src/check/read-flow.js';
import { Source, parseDocument } from '../../src/syntax/index.js';
import { runFlow } from '../support/flow.js';

/*
 * The checker and the interpreter agree. Random flows in which probes stand between the items: each looks which steps
 * have an output there. What the checker calls certain is always there, what it calls impossible never.
 */

type Condition = { readonly on: 'a' | 'b' | 'n' | 'first' | 'chance'; readonly is: number };

type Drawn =
  | { readonly verb: 'set' | 'sleep' | 'fail' | 'complete' | 'rethrow' | 'work' }
  | { readonly verb: 'group'; readonly body: Item[] }
  | { readonly verb: 'branch'; readonly arms: Item[][]; readonly otherwise: Item[] }
  | { readonly verb: 'parallel'; readonly branches: Item[][]; readonly join: 'all' | 'any' | 'wait' }
  | { readonly verb: 'forEach'; readonly count: number; readonly body: Item[] }
  | { readonly verb: 'doWhile' | 'doUntil'; readonly turns: number; readonly body: Item[] };

type Item = Drawn & { readonly when?: Condition | undefined; readonly onError?: Item[][] | undefined };

const condition: fc.Arbitrary<Condition> = fc.record({
  on: fc.constantFrom('a' as const, 'b' as const, 'n' as const, 'first' as const, 'chance' as const),
  is: fc.nat(2),
});

const { list } = fc.letrec<{ list: Item[]; item: Item }>((tie) => ({
  list: fc.array(tie('item'), { maxLength: 3, depthIdentifier: 'items' }),
  item: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small', maxDepth: 4, depthIdentifier: 'items' },
        {
          weight: 5,
          arbitrary: fc.record({
            verb: fc.constantFrom('set' as const, 'set' as const, 'work' as const, 'sleep' as const),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ verb: fc.constantFrom('fail' as const, 'complete' as const, 'rethrow' as const) }),
        },
        { weight: 2, arbitrary: fc.record({ verb: fc.constant('group' as const), body: tie('list') }) },
        {
          weight: 2,
          arbitrary: fc.record({
            verb: fc.constant('branch' as const),
            arms: fc.array(tie('list'), { minLength: 1, maxLength: 3 }),
            otherwise: tie('list'),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            verb: fc.constant('parallel' as const),
            branches: fc.array(tie('list'), { minLength: 2, maxLength: 2 }),
            join: fc.constantFrom('all' as const, 'any' as const, 'wait' as const),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ verb: fc.constant('forEach' as const), count: fc.nat(2), body: tie('list') }),
        },
        {
          weight: 3,
          arbitrary: fc.record({
            verb: fc.constantFrom('doWhile' as const, 'doUntil' as const),
            turns: fc.nat(3),
            body: tie('list'),
          }),
        },
      ),
      fc.option(condition, { nil: undefined, freq: 2 }),
      fc.option(fc.array(tie('list'), { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 3 }),
    )
    .map(([verb, when, onError]): Item => ({ ...verb, when, onError })),
}));

interface Around {
  readonly isConcurrent: boolean;
  readonly isHandling: boolean;
  readonly isTurn: boolean;
}

class Writer {
  #count = 0;
  #probes = 0;

  /** Between all items, and at both ends of a list, stands a probe. */
  body(items: readonly Item[], around: Around): JsonValue[] {
    return [this.#probe(), ...items.flatMap((item) => [this.#item(item, around), this.#probe()])];
  }

  #probe(): JsonObject {
    const id = `p${(this.#probes += 1)}`;
    return { step: 'probe', id, with: { place: id, there: '=[$keys($steps)]' } };
  }

  #item(item: Item, around: Around): JsonObject {
    const id = `s${(this.#count += 1)}`;
    const written: JsonObject = { id, ...this.#verb(item, around) };
    const when = item.when && this.#condition(item.when, around);
    if (when !== undefined) written.when = when;
    if (item.onError !== undefined) {
      written.onError = item.onError.map((handler, index) => ({
        ...(index === 0 && item.onError?.length === 2 && { errors: ['Broken'] }),
        do: this.body(handler, { ...around, isHandling: true }),
      }));
    }
    return written;
  }

  #condition({ on, is }: Condition, { isTurn }: Around): string {
    switch (on) {
      case 'a':
      case 'b':
        return is === 0 ? `=$not($input.${on})` : is === 1 ? `$input.${on}` : `=$input.${on} = true`;
      case 'n':
        return `$input.n = ${is}`;
      case 'first':
        return isTurn
          ? (['$iteration = 0', '=$iteration > 0', '$not($iteration = 0)'][is % 3] ?? '')
          : '$input.a and $input.b';
      case 'chance':
        return '=$random() < 0.5';
    }
  }

  #verb(item: Item, around: Around): JsonObject {
    switch (item.verb) {
      case 'set':
        return { set: 1 };
      case 'work':
        return { step: 'work', retry: { attempts: 1 } };
      case 'sleep':
        return { sleep: '1ms' };
      case 'fail':
        return { fail: 'Broken' };
      case 'complete':
        return around.isConcurrent ? { set: 'not here' } : { complete: 1 };
      case 'rethrow':
        return around.isHandling ? { rethrow: 'on it goes' } : { set: 'not here' };
      case 'group':
        return { group: this.body(item.body, around) };
      case 'branch':
        return {
          branch: [
            ...item.arms.map((arm, index) => ({ when: `=$input.n = ${index}`, do: this.body(arm, around) })),
            { else: this.body(item.otherwise, around) },
          ],
        };
      case 'parallel': {
        const inside = { ...around, isConcurrent: true };
        const [one, two] = item.branches.map((branch) => this.body(branch, inside));
        const join: JsonObject = item.join === 'wait' ? { onBranchError: 'wait' } : { join: item.join };
        return { parallel: { one: one ?? [], two: two ?? [] }, ...join };
      }
      case 'forEach': {
        const elements = Array.from({ length: item.count }, (_, index) => index);
        return { forEach: elements, do: this.body(item.body, { ...around, isConcurrent: true, isTurn: false }) };
      }
      case 'doWhile':
        return { doWhile: `$iteration < ${item.turns}`, do: this.body(item.body, { ...around, isTurn: true }) };
      case 'doUntil':
        return { doUntil: `=$iteration >= ${item.turns}`, do: this.body(item.body, { ...around, isTurn: true }) };
    }
  }
}

function write(steps: readonly Item[], last: readonly Item[]): JsonObject {
  const writer = new Writer();
  const around: Around = { isConcurrent: false, isHandling: false, isTurn: false };
  return {
    workflow: 'probed',
    input: { a: { type: 'boolean' }, b: { type: 'boolean' }, n: { type: 'integer' } },
    steps: writer.body(steps, around),
    onFailure: writer.body(last, { ...around, isConcurrent: true }),
    finally: writer.body(last, { ...around, isConcurrent: true }),
  };
}

/** What the checker says of each step at each probe. */
function sightsIn(text: string): Map<string, Map<string, Sight>> {
  const { root } = parseDocument(new Source('probed.yaml', text));
  if (root === undefined) throw new Error('no document');
  const model = readFlow(root);
  const course = courseOf(model);
  const { items } = stepNamesOf(model);
  const sights = new Sights(course, {}, items);
  const isStep = ([name]: [string, FlowItem]): boolean => name.startsWith('s');
  return new Map(
    [...items]
      .filter((each) => !isStep(each))
      .map(([place, probe]) => {
        const standing = { kind: 'field', item: probe } as const;
        const at = { standing, within: probe.within, variables: probe.variables };
        const facts = course.factsAt(standing);
        const seen = [...items]
          .filter(isStep)
          .map(([name, item]): [string, Sight] => [name, sights.of(item, name, at, facts)]);
        return [place, new Map(seen)];
      }),
  );
}

test(
  'what is certain is there, and what is impossible is not',
  async () => {
    const counted = { certain: 0, never: 0 };
    const last = fc.array(fc.constant<Item>({ verb: 'set' }), { maxLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(list, list).map(([first, second]) => [...first, ...second]),
        last,
        fc.record({ a: fc.boolean(), b: fc.boolean(), n: fc.nat(2) }),
        fc.nat(1000),
        async (steps, after, input, luck) => {
          const document = Object.entries(write(steps, after));
          const text = document.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('');
          const sights = sightsIn(text);
          let draw = luck;
          const work = (): number => {
            draw = (draw * 1_103_515_245 + 12_345) % 2_147_483_648;
            if (draw % 3 === 0)
              throw Object.assign(new Error('it broke'), { name: draw % 2 === 0 ? 'Broken' : 'Other' });
            return 1;
          };
          const wrong: string[] = [];
          const probe = (seen: JsonValue): null => {
            const { place, there } = seen as { place: string; there: string[] };
            for (const [id, { kind }] of sights.get(place) ?? []) {
              const isThere = there.includes(id);
              if (kind === 'certain') counted.certain++;
              if (kind === 'never' || kind === 'silent') counted.never++;
              if (isThere ? kind === 'never' || kind === 'silent' : kind === 'certain') {
                wrong.push(`${id} is ${isThere ? '' : 'not '}there at ${place}, but that is called ${kind}`);
              }
            }
            return null;
          };
          await runFlow(text, { input, handlers: { work, probe } });
          expect(wrong).toEqual([]);
        },
      ),
      { seed: 20_261_130, numRuns: Number(process.env.CHECK_RUNS ?? 40) },
    );
    expect(counted.certain).toBeGreaterThan(100);
    expect(counted.never).toBeGreaterThan(100);
  },
  24 * 3_600_000,
);
