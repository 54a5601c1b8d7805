// Draws docs/images/run.svg: a trip of which the car is sold out, so that flight and hotel are given back.
//
//     npm run build && node scripts/draw-example-run.js
//
// The run is a real one of definitions/travel-booking.yaml, in virtual time and with agencies that answer as
// told, so that the picture comes out the same each time. What the command draws with draws it.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryStorage, NonRetryableError, createEngine, defineHandler, loadDefinitions } from 'runsheet';
import { VirtualClock } from 'runsheet/testing';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The picture as SVG. @param draw what `runsheet graph --format svg` makes of a run in a storage */
export async function exampleRun(draw) {
  const storage = new MemoryStorage();
  // Ids of runs with a key follow from it.
  storage.readIdentity = async () => 'example';
  const id = await bookTrip(storage);
  return draw(storage, await storage.getRun(id));
}

async function bookTrip(storage) {
  const clock = new VirtualClock();
  const after = (ms) => new Promise((resolve) => clock.setTimer(ms, resolve));
  let timeouts = 1;
  const handlers = Object.entries({
    'flights.book': async () => (await after(1200), { booking: 'f-1', priceCents: 18000 }),
    'flights.cancel': async () => void (await after(600)),
    'hotels.book': async () => {
      await after(800);
      if (timeouts-- > 0) throw Object.assign(new Error('busy'), { name: 'ProviderUnavailable' });
      return { booking: 'h-1', priceCents: 28500 };
    },
    'hotels.cancel': async () => void (await after(400)),
    'cars.book': async () => {
      await after(700);
      throw new NonRetryableError('there is no car left', { name: 'SoldOut' });
    },
    'cars.cancel': () => null,
    'mail.send': async () => void (await after(90)),
    'trips.statement': async () => void (await after(40)),
  }).map(([name, run]) => defineHandler({ name, run }));
  const definitions = (await loadDefinitions(join(root, 'definitions'))).filter(
    ({ name }) => name === 'travel-booking',
  );
  let drawn = 0;
  const randomBytes = () =>
    createHash('sha256')
      .update(String((drawn += 1)))
      .digest()
      .subarray(0, 16);
  const engine = createEngine({ storage, definitions, handlers, clock, randomBytes });
  await engine.start();
  const input = {
    traveller: { name: 'Ana', email: 'ana@example.test' },
    from: 'Hamburg',
    to: 'Lisbon',
    leave: '2030-05-02',
    nights: 3,
  };
  const { id } = await engine.enqueue('travel-booking', input, { key: 'trip' });
  await clock.until(engine.result(id));
  await engine.stop();
  return id;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { drawRun } = await import('../dist/cli/commands/graph.js');
  writeFileSync(join(root, 'docs/images/run.svg'), await exampleRun(drawRun));
}
