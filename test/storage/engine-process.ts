import { SqliteStorage } from '../../src/storage/index.js';

/**
 * An engine in a process of its own, for tests that stop or kill it: leases the runs that are due, says so, and
 * then commits a numbered entry to the first of them for every line it reads; or, asked to `flood`, as many as it can.
 */
const [path = '', owner = '', mode = ''] = process.argv.slice(2);
const storage = new SqliteStorage(path, { durability: 'process' });
await storage.open();
await storage.registerEngine(owner);
const now = Date.now();
const leases = await storage.claimRuns({
  owner,
  hashes: ['h'],
  limit: 10,
  now,
  leaseExpiresAt: now + 9e9,
  alone: false,
});
process.stdout.write('ready\n');

async function commit(seq: number): Promise<void> {
  const lease = leases[0];
  if (lease === undefined) throw new Error('nothing is due');
  const entry = { seq, kind: 'step-completed', step: 's', occurrence: '0', aspect: null, at: now, payload: null };
  const [result] = await storage.commitUnits([{ run: lease.run, epoch: lease.epoch, owner, entries: [entry] }]);
  process.stdout.write(`${result} ${seq}\n`);
}

if (mode === 'flood') {
  for (let seq = 1; ; seq += 1) await commit(seq);
}
let seq = 0;
process.stdin.on('data', () => void commit((seq += 1)));
