import { describe, expect, test } from 'vitest';
import { itemKey, walkItems } from '../../src/definition/index.js';
import { documentOf, everythingElse, orderFulfilment } from './flows.js';

describe('walking the items of a flow', () => {
  const walked = (text: string): string[] => {
    const keys: string[] = [];
    walkItems(documentOf(text), ({ key }) => keys.push(key));
    return keys;
  };

  test('visits every item in the order of the file and names each by id or place', () => {
    expect(walked(orderFulfilment)).toEqual([
      'reserve',
      'charge',
      'mail.send@1.onError.0.0',
      'rethrow@1.onError.0.1',
      'group@2',
      'mail.send@2.0',
      'decision',
      'fail@2.2',
      'parallel@3',
      'pack',
      'stock.pick@3.warehouse.0.0',
      'invoice',
      'pivot@4',
      'shipment',
      'track',
      'sleep@6.0',
      'status',
    ]);
    expect(walked(everythingElse)).toEqual([
      'values',
      'branch@1',
      'complete@1.0.0',
      'sleep@1.2.0',
      'turns',
      'numbers.add@2.0',
      'counter',
      'n',
      'parallel@4',
      'pivot@4.right.0',
      'gate',
      'subWorkflow@6',
      'fail@6.onError.0.0',
      'rethrow@6.onError.1.0',
      'mail.send@onFailure.0',
      'mail.send@finally.0',
    ]);
  });

  test('gives the path of each item and the list it stands in', () => {
    const document = documentOf(orderFulfilment);
    walkItems(document, ({ item, path, list }) => {
      expect(nodeAtPath(document, path)).toBe(item);
      expect(nodeAtPath(document, path.slice(0, -1))).toBe(list);
      expect(list[Number(path.at(-1))]).toBe(item);
    });
  });

  test('never gives two items one key, whatever branches are called', () => {
    const keys = walked(`
workflow: w
steps:
  - parallel:
      a: [{ group: [{ sleep: 1s }, { sleep: 1s }] }]
      a.0: [{ sleep: 1s }, { sleep: 1s }]
      onError: [{ group: [{ sleep: 1s }] }]
      remind: [{ sleep: 1s }]
    onError:
      - do: [{ sleep: 1s }]
onFailure: [{ sleep: 1s }]
finally: [{ sleep: 1s }]
`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toContain('sleep@0.[a.0].1');
    expect(keys).toContain('sleep@0.onError.0.0');
  });

  test('a reminder has a key like an item', () => {
    expect(itemKey({ every: '1h', step: 'mail.send' }, '2.1.remind')).toBe('mail.send@2.1.remind');
    expect(itemKey({ every: '1h', step: 'mail.send', id: 'nudge' }, '2.1.remind')).toBe('nudge');
  });
});

function nodeAtPath(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((inside, segment) => (inside as Record<string | number, unknown>)[segment], value);
}
