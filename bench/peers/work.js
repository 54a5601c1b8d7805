import { createServer } from 'node:net';

/** What every engine is given to do: a run of these steps, each with an answer of some 200 bytes, and nothing else. */
export const steps = ['a', 'b', 'c'];

export function answer(step) {
  return { step, text: 'x'.repeat(200) };
}

/** Tells of the end of runs inside one process, for engines whose own waiting asks the database now and then. */
export class Ends {
  #waiting = new Map();
  #early = new Set();

  /** Resolves when the run has been told of, also if that was before the call. */
  of(id) {
    if (this.#early.delete(id)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  tell(id) {
    const resolve = this.#waiting.get(id);
    if (resolve === undefined) this.#early.add(id);
    else this.#waiting.delete(id);
    resolve?.();
  }
}

/** What an engine's open database says of itself. `get` answers the first row of a statement as an object. */
export function sqliteFacts(get) {
  const value = (sql) => Object.values(get(sql))[0];
  const synchronous = ['OFF', 'NORMAL', 'FULL', 'EXTRA'][value('pragma synchronous')];
  return `SQLite ${value('select sqlite_version()')}, ${value('pragma journal_mode')}, synchronous=${synchronous}`;
}

/** A port of the loopback that nothing listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
