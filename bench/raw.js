import Database from 'better-sqlite3';

/**
 * What the disk and the driver can do at best, measured beside the work that is compared with it:
 * transactions a second of `rowsPerCommit` rows of a journal entry's size.
 */
export function rawCommits(file, { synchronous, rowsPerCommit, forMs }) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${synchronous}`);
  db.exec('create table if not exists entry (run integer, seq integer, kind text, payload text)');
  db.exec('create unique index if not exists entry_seq on entry (run, seq)');
  const insert = db.prepare('insert into entry (run, seq, kind, payload) values (?, ?, ?, ?)');
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const payload = 'x'.repeat(300);
  const durations = [];
  const began = performance.now();
  let before = began;
  let row = 0;
  while (before - began < forMs) {
    begin.run();
    for (let index = 0; index < rowsPerCommit; index += 1) insert.run(1, (row += 1), 'step-completed', payload);
    commit.run();
    const now = performance.now();
    durations.push(now - before);
    before = now;
  }
  db.close();
  durations.sort((a, b) => a - b);
  return {
    perSecond: durations.length / ((before - began) / 1000),
    medianMs: durations[Math.floor(durations.length / 2)],
  };
}
