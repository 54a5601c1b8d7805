import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source } from '../../src/syntax/index.js';

const billing = {
  name: 'billing.remind',
  input: {
    type: 'object',
    properties: {
      invoices: { type: 'array' },
      either: { type: ['array', 'object'] },
      days: { type: 'integer' },
      note: { type: ['string', 'null'] },
      level: { type: 'integer' },
    },
    required: ['level'],
  },
};
const handlers = new Map([[billing.name, billing]]);

const head = `workflow: reminders
input:
  invoices: { type: array, items: { type: object, properties: { paid: { type: boolean } } } }
  days: { type: integer, optional: true }
steps:
  - step: billing.remind
    with:
`;

function said(argument: string): string[] {
  const level = argument.startsWith('level') ? '' : '      level: 1\n';
  const { diagnostics } = checkSource(new Source('flow.yaml', `${head}${level}      ${argument}\n`), { handlers });
  return diagnostics.map(({ severity, code, help }) => `${severity} ${code}: ${help}`);
}

describe('a filter given where a list is needed', () => {
  const remedy =
    'warning RS3018: `[$input.invoices[paid = false]]` always gives a list, an empty one where none matches';

  test.each([
    'invoices: =$input.invoices[paid = false]',
    'invoices: =$input.invoices[paid = false] ?? null',
    "invoices: '=$input.invoices[paid = false] ?? []'",
  ])('%s is warned of', (argument) => {
    expect(said(argument)).toEqual([remedy]);
  });

  test.each([
    "invoices: '=[$input.invoices[paid = false]]'",
    'invoices: =$input.invoices[paid = false][]',
    'invoices: =$input.invoices',
    'either: =$input.invoices[paid = false]',
  ])('%s passes', (argument) => {
    expect(said(argument)).toEqual([]);
  });
});

describe('null in place of a missing value', () => {
  test('is warned of where null does not fit; a formula for all of `with` can leave the field out', () => {
    expect(said('days: =$input.days ?? null')).toEqual([
      'warning RS4032: to leave the field out, write all of `with` as one formula: `=$exists($input.days) ? { "days": $input.days } : {}`',
    ]);
    expect(said('level: =$input.days ?? null')).toEqual(['warning RS4032: give a default that is a number']);
  });

  test.each(['days: =$input.days ?? 3', 'level: =$input.days ?? 3', 'note: =$string($input.days) ?? null'])(
    '%s passes',
    (argument) => {
      expect(said(argument)).toEqual([]);
    },
  );
});
