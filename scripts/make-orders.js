// Makes definitions/import-orders.csv: a thousand orders, some 3 % of them bad, always the same.
//
//     node scripts/make-orders.js [file]
//
// What is good and what is wrong with the rest is known here, so that tests can compare an import
// with the truth instead of with a second import.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const columns = ['order_id', 'date', 'customer', 'email', 'quantity', 'unit_price', 'currency', 'note'];

const customers = [
  'Ana García',
  'Blom & Zonen, Utrecht',
  'Chen Wei',
  'Dvořák, s.r.o.',
  'Ebba Lindqvist',
  'Fischer "Metallbau" GmbH',
  "O'Brien Ltd, Cork",
  'Jürgen Groß',
  'Łucja Wójcik',
  'Smith, Jones & Co.',
];

const notes = [
  '',
  '',
  '',
  'leave at the door',
  'call before delivery, please',
  'gift; write "Happy birthday, Zoë!"',
  'first floor,\nsecond door on the left',
  'two parcels:\n- one for the shop\n- one for the office',
];

const currencies = ['EUR', 'USD', 'GBP', 'CHF', 'SEK', 'DKK'];

/** Each spoils a good row in one way. */
const spoilers = {
  'missing field': (row, random) => ({ ...row, [pick(['customer', 'date', 'currency', 'quantity'], random)]: '' }),
  'short row': (row) => ({ ...row, length: 5 }),
  'wrong number': (row, random) =>
    random() < 0.5
      ? { ...row, quantity: pick(['two', '-3', '1.5', '0'], random) }
      : { ...row, unit_price: pick(['12,50', '9.999', 'free', '-4.00', '1e3'], random) },
  'unknown currency': (row, random) => ({ ...row, currency: pick(['XBT', 'EURO', 'eur', '$'], random) }),
  'impossible date': (row, random) => ({
    ...row,
    date: pick(['2025-02-30', '2025-13-01', '2025-06-31', '31.12.2025', '2023-02-29'], random),
  }),
  'duplicate id': (row, random, earlier) => ({ ...row, order_id: pick(earlier, random) }),
};

/** Mulberry32: small, and the same on every machine. */
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = (list, random) => list[Math.floor(random() * list.length)];

const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * @returns {{ csv: string, good: object[], bad: object[] }} `good`: `{ line, orderId, currency, cents }`
 *   where `cents` is quantity × unit price in hundredths; `bad`: `{ line, kind }`. Lines are 1-based,
 *   those on which a row begins.
 */
export function makeOrders({ count = 1000, badCount = 30, seed = 20250601 } = {}) {
  const random = seededRandom(seed);
  const kinds = Object.keys(spoilers);
  // Never the first row: a duplicate needs an earlier one.
  const badAt = new Map();
  while (badAt.size < badCount) {
    const place = 1 + Math.floor(random() * (count - 1));
    if (!badAt.has(place)) badAt.set(place, kinds[badAt.size % kinds.length]);
  }
  const lines = [columns.join(',')];
  const good = [];
  const bad = [];
  let line = 2;
  for (let place = 0; place < count; place += 1) {
    const quantity = 1 + Math.floor(random() * 12);
    const priceCents = 100 + Math.floor(random() * 49_900);
    const day = new Date(Date.UTC(2025, 0, 1 + Math.floor(random() * 365))).toISOString().slice(0, 10);
    let row = {
      order_id: `o-${String(place + 1).padStart(5, '0')}`,
      date: day,
      customer: pick(customers, random),
      email: `customer${1 + Math.floor(random() * 400)}@example.test`,
      quantity: String(quantity),
      unit_price: (priceCents / 100).toFixed(2),
      currency: pick(currencies, random),
      note: pick(notes, random),
    };
    const kind = badAt.get(place);
    if (kind === undefined) {
      good.push({ line, orderId: row.order_id, currency: row.currency, cents: quantity * priceCents });
    } else {
      row = spoilers[kind](
        row,
        random,
        good.map(({ orderId }) => orderId),
      );
      bad.push({ line, kind });
    }
    const cells = columns.slice(0, row.length ?? columns.length).map((name) => cell(row[name]));
    lines.push(cells.join(','));
    line += 1 + cells.join(',').split('\n').length - 1;
  }
  return { csv: `${lines.join('\n')}\n`, good, bad };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? fileURLToPath(new URL('../definitions/import-orders.csv', import.meta.url));
  const { csv, good, bad } = makeOrders();
  writeFileSync(file, csv);
  console.log(`${file}: ${good.length} good orders, ${bad.length} bad ones`);
}
