import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { NonRetryableError } from 'runsheet';

interface Opened {
  readonly database: Database.Database;
  readonly inode: number;
}

const opened = new Map<string, Opened>();

/**
 * The database at `path`, made if need be, with `schema` applied to it. One connection a file and
 * process. `synchronous=FULL`: what a handler has reported as done must survive a power cut, for the
 * engine will never call it again.
 */
export function openDatabase(path: string, schema: string): Database.Database {
  const file = resolve(path);
  const known = opened.get(file);
  // A connection to a file that somebody has deleted would go on writing into nothing.
  if (known !== undefined && statSync(file, { throwIfNoEntry: false })?.ino === known.inode) return known.database;
  known?.database.close();
  mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file, { timeout: 5_000 });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(`${effectTable} ${schema}`);
  opened.set(file, { database, inode: statSync(file).ino });
  return database;
}

const effectTable = `
  CREATE TABLE IF NOT EXISTS effect (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 1
  );`;

/**
 * Does `effect` once per idempotency key: a repeated call changes nothing and gets the first answer.
 * Effect and answer are one transaction, so a crash leaves both or neither. `effect` must be
 * synchronous, and its answer JSON.
 *
 * @throws NonRetryableError IdempotencyMismatch if the key was used for another request.
 */
export function once<Answer>(database: Database.Database, key: string, request: unknown, effect: () => Answer): Answer {
  const asked = JSON.stringify(request);
  return database
    .transaction((): Answer => {
      const earlier = database.prepare('SELECT request, answer FROM effect WHERE key = ?').get(key) as
        { request: string; answer: string } | undefined;
      if (earlier === undefined) {
        const answer = effect();
        database
          .prepare('INSERT INTO effect (key, request, answer) VALUES (?, ?, ?)')
          .run(key, asked, JSON.stringify(answer));
        return answer;
      }
      if (earlier.request !== asked) {
        throw new NonRetryableError(`idempotency key ${key} was used for another request`, {
          name: 'IdempotencyMismatch',
        });
      }
      database.prepare('UPDATE effect SET calls = calls + 1 WHERE key = ?').run(key);
      return JSON.parse(earlier.answer) as Answer;
    })
    .immediate();
}
