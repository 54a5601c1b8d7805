import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import jsonata from 'jsonata';
import { describe, expect, it } from 'vitest';

import { functionNames } from '../../src/expression/index.js';
import { builtIn, builtInNames } from '../../src/expression/built-ins.js';
import type { Frame } from '../../src/expression/evaluation.js';

/**
 * What Runsheet uses of JSONata without its being documented. A new version that fails here must not be taken
 * before `src/expression/` has been looked through.
 */
describe('JSONata', () => {
  const entry = Symbol.for('jsonata.__evaluate_entry') as unknown as string;
  const exit = Symbol.for('jsonata.__evaluate_exit') as unknown as string;

  it('is pinned to the version that Runsheet was built for', () => {
    const own = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: { jsonata: string } };
    const require = createRequire(import.meta.url);
    const installed = JSON.parse(readFileSync(require.resolve('jsonata/package.json'), 'utf8')) as { version: string };
    const word =
      'before another version is taken, look through src/expression/: it relies on what JSONata does not document';
    expect(own.dependencies.jsonata, word).toMatch(/^\d+\.\d+\.\d+$/);
    expect(installed.version, word).toBe(own.dependencies.jsonata);
  });

  it('calls the hooks around every node, and waits for them', async () => {
    const seen: string[] = [];
    const expression = jsonata('1 + $x');
    expression.assign(entry, async (node: { type: string }, _input: unknown, frame: Frame) => {
      await Promise.resolve();
      expect(frame.lookup('x')).toBe(2);
      expect(frame.base.evaluation).toBe(undefined);
      seen.push(`> ${node.type}`);
    });
    expression.assign(exit, (node: { type: string }, _input: unknown, _frame: Frame, result: unknown) => {
      seen.push(`< ${node.type} ${String(result)}`);
    });
    expect(await expression.evaluate(undefined, { x: 2 })).toBe(3);
    expect(seen).toEqual(['> binary', '> number', '< number 1', '> variable', '< variable 2', '< binary 3']);
  });

  it('evaluates what `ast()` gives, changed as it may be', async () => {
    const expression = jsonata('1 + 1');
    (expression.ast() as unknown as { rhs: object }).rhs = { type: 'number', value: 5 };
    expect(await expression.evaluate(undefined)).toBe(6);
  });

  it('starts the items of a list and the values of an object at the same time, in one go', async () => {
    for (const text of ['[1, 2, 3]', '{"a": 1, "b": 2, "c": 3}']) {
      const seen: unknown[] = [];
      let isOneGo = true;
      const expression = jsonata(text);
      expression.assign(entry, (node: { type: string; value: unknown }) => {
        if (node.type !== 'number') return;
        if (seen.length === 0) queueMicrotask(() => (isOneGo = false));
        seen.push(isOneGo ? node.value : 'late');
      });
      await expression.evaluate(undefined);
      expect(seen).toEqual([1, 2, 3]);
    }
  });

  it('has the functions that Runsheet lists, and gives their definitions away', () => {
    for (const name of builtInNames) {
      expect(builtIn(name), name).toMatchObject({ _jsonata_function: true, implementation: expect.any(Function) });
    }
    const source = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8');
    const bound = [...source.matchAll(/staticFrame\.bind\('(\w+)'/g)].map(([, name]) => name);
    expect([...bound, 'now', 'millis'].sort()).toEqual([...builtInNames].sort());
    expect([...functionNames]).toContain('addDuration');
    expect([...functionNames]).not.toContain('eval');
  });

  it('gives as the position of a node the end of its token', () => {
    const { lhs, rhs, position } = jsonata('$first >= "second"').ast() as unknown as Record<
      string,
      { position: number }
    >;
    expect([lhs?.position, position, rhs?.position]).toEqual([6, 9, 18]);
  });

  it('leaves of `??` and `?:` a condition with the position of the operator', () => {
    for (const [text, operator] of [
      ['$a ?? 1', '??'],
      ['$a ?: 1', '?:'],
    ] as const) {
      const node = jsonata(text).ast() as unknown as { type: string; position: number };
      expect(node.type).toBe('condition');
      expect(text.slice(node.position - 2, node.position)).toBe(operator);
    }
  });
});
