import { describe, expect, it } from 'vitest';
import { RecordedEntries } from '../../src/engine/recorded-entries.js';
import type { JournalRow } from '../../src/storage/index.js';

let seq = 0;
function row(kind: string, step: string | null, occurrence: string | null, aspect: string | null): JournalRow {
  seq += 1;
  return { seq, kind, step, occurrence, aspect, at: 0, payload: null };
}

describe('recorded entries', () => {
  it('are met once, by kind, item, turn and aspect; absent turns and aspects are the first and the empty one', () => {
    const recorded = new RecordedEntries();
    const rows = [
      row('step-started', 'a', '0', '1'),
      row('step-completed', 'a', '0', '1'),
      row('step-started', 'a', '1', '1'),
      row('run-outcome', null, null, null),
    ];
    for (const one of rows) recorded.add(one);
    const place = { step: 'a', occurrence: '0', aspect: '1' };
    expect(recorded.take('step-failed', place)).toBe(undefined);
    expect(recorded.peek('step-started', place)).toBe(rows[0]);
    expect(recorded.take('step-started', place)).toBe(rows[0]);
    expect(recorded.take('step-started', place)).toBe(undefined);
    expect(recorded.take('step-completed', place)).toBe(rows[1]);
    expect(recorded.take('step-started', { ...place, occurrence: '1' })).toBe(rows[2]);
    expect(recorded.take('run-outcome', { step: null, occurrence: '0', aspect: '' })).toBe(rows[3]);
    expect(recorded.size).toBe(0);
  });

  it.each([1, 5, 12, 13, 14, 500])('%i of one place are told apart; of two that are alike the first stays', (count) => {
    const recorded = new RecordedEntries();
    const rows = Array.from({ length: count }, (_, index) => row('step-started', 'a', '0', String(index + 1)));
    for (const one of rows) recorded.add(one);
    for (const { kind, step, occurrence, aspect } of rows) recorded.add(row(kind, step, occurrence, aspect));
    expect(recorded.size).toBe(count);
    for (const [index, one] of rows.entries()) {
      const place = { step: 'a', occurrence: '0', aspect: String(index + 1) };
      expect(recorded.peek('step-started', place)).toBe(one);
      expect(recorded.take('step-started', place)).toBe(one);
      expect(recorded.peek('step-started', place)).toBe(undefined);
    }
    expect(recorded.size).toBe(0);
  });
});
