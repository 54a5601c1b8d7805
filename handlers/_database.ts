import { mkdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { NonRetryableError } from 'runsheet';

interface Opened {
  readonly database: Database.Database;
  readonly inode: number;
}

const opened = new Map<string, Opened>();

/** The database at `path`, made if need be, with `schema` applied to it. One connection a file and process. */
export function openDatabase(path: string, schema: string): Database.Database {
  const file = resolve(path);
  const known = opened.get(file);
  // A connection to a file that somebody has deleted would go on writing into nothing.
  if (known !== undefined && statSync(file, { throwIfNoEntry: false })?.ino === known.inode) return known.database;
  known?.database.close();
  mkdirSync(dirname(file), { recursive: true });
  const database = new Database(file, { timeout: 5_000 });
  database.pragma('journal_mode = WAL');
  // NORMAL leaves it to `reachDisk` when the log is synced; FULL would hold up the whole process at each commit.
  database.pragma('synchronous = NORMAL');
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

/** Stands in place of a request where its step was undone before it was ever done: never the text of one. */
const withdrawn = 'withdrawn';

/**
 * Does `effect` once per idempotency key: a repeated call changes nothing and gets the first answer.
 * Effect and answer are one transaction, so a crash leaves both or neither; both are on the disk when
 * the promise resolves, for the engine will never ask again. `effect` must be synchronous, and its
 * answer JSON.
 *
 * @throws NonRetryableError IdempotencyMismatch if the key was used for another request, Withdrawn if
 *   what it stands for was undone (`undoOnce`) before it was done.
 */
export async function once<Answer>(
  database: Database.Database,
  key: string,
  request: unknown,
  effect: () => Answer,
): Promise<Answer> {
  const answer = onceInTransaction(database, key, request, effect);
  await reachDisk(database.name);
  return answer;
}

export interface Undoing {
  /** Idempotency key of the reversal. */
  readonly key: string;
  /** Of the step to be undone; absent where the handler is called as a step of its own. */
  readonly forwardKey: string | undefined;
  readonly request: unknown;
}

/**
 * Undoes, once, what was done under `forwardKey`. `undo` gets the answer that the step was given, or
 * should have been: the engine may know nothing of it. It gets undefined where nothing was done;
 * then nothing ever will be, for a call under that key that comes too late is refused.
 */
export function undoOnce<Answer, Undone>(
  database: Database.Database,
  { key, forwardKey, request }: Undoing,
  undo: (answer: Answer | undefined) => Undone,
): Promise<Undone> {
  return once(database, key, request, () => {
    if (forwardKey === undefined) return undo(undefined);
    const done = database.prepare('SELECT answer FROM effect WHERE key = ?').get(forwardKey) as
      { answer: string } | undefined;
    if (done !== undefined) return undo(JSON.parse(done.answer) as Answer);
    database.prepare('INSERT INTO effect (key, request, answer) VALUES (?, ?, ?)').run(forwardKey, withdrawn, 'null');
    return undo(undefined);
  });
}

function onceInTransaction<Answer>(
  database: Database.Database,
  key: string,
  request: unknown,
  effect: () => Answer,
): Answer {
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
      if (earlier.request === withdrawn) {
        throw new NonRetryableError(`what ${key} asks for was undone before it was done`, { name: 'Withdrawn' });
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

interface Syncs {
  /** Has begun: whatever is committed from now on may come too late for it. */
  running: Promise<void>;
  /** Begins after `running`; all who ask meanwhile share it. */
  next: Promise<void> | undefined;
}

const syncs = new Map<string, Syncs>();

/** Resolves when all that was committed to the database before the call has reached the disk. */
function reachDisk(file: string): Promise<void> {
  const state = syncs.get(file);
  if (state === undefined) {
    const fresh: Syncs = { running: syncLog(file), next: undefined };
    syncs.set(file, fresh);
    const advance = (): void => {
      if (fresh.next === undefined) syncs.delete(file);
    };
    fresh.running.then(advance, advance);
    return fresh.running;
  }
  state.next ??= state.running
    .catch(() => {})
    .then(() => {
      syncs.delete(file);
      return reachDisk(file);
    });
  return state.next;
}

async function syncLog(file: string): Promise<void> {
  const log = await open(`${file}-wal`, 'r+');
  try {
    await log.datasync();
  } finally {
    await log.close();
  }
}
