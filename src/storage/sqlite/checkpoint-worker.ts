import type * as WorkerThreads from 'node:worker_threads';
import type BetterSqlite3 from 'better-sqlite3';
import type { CheckpointThresholds } from './checkpoint-thresholds.js';

export interface CheckpointOrders extends CheckpointThresholds {
  /** Absolute path of the database driver's module, as a worker made from text has no place to resolve it from. */
  readonly driver: string;
  readonly path: string;
}

/**
 * The whole life of the worker. It is handed over as text, so that it runs the same from `dist` and
 * from the sources under test: nothing outside the function may be referred to.
 */
function runCheckpoints({ parentPort, workerData }: typeof WorkerThreads, load: NodeJS.Require): void {
  const { driver, path, passiveFrames, restartFrames } = workerData as CheckpointOrders;
  const fewFrames = 64;
  const mostRounds = 10;
  // RESTART holds up writers while it waits for readers: not for longer than this.
  const timeout = 20;

  const Database = load(driver) as typeof BetterSqlite3;
  const db = new Database(path, { timeout, fileMustExist: true });
  db.pragma('synchronous = NORMAL');
  db.pragma('wal_autocheckpoint = 0');

  const checkpoint = (mode: 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE'): { log: number; left: number } => {
    const [row] = db.pragma(`wal_checkpoint(${mode})`) as [{ log: number; checkpointed: number }];
    return { log: row.log, left: row.log - row.checkpointed };
  };

  const look = (): void => {
    let state = checkpoint('NOOP');
    if (state.left >= passiveFrames) state = checkpoint('PASSIVE');
    if (state.log < restartFrames) return;
    for (let round = 0; state.left > fewFrames && round < mostRounds; round += 1) state = checkpoint('PASSIVE');
    checkpoint('RESTART');
  };

  parentPort?.on('message', (order: 'look' | 'end') => {
    if (order === 'look') {
      look();
      parentPort.postMessage('looked');
      return;
    }
    checkpoint('TRUNCATE');
    db.close();
    parentPort.close();
  });
}

export const checkpointWorkerSource = `(${runCheckpoints.toString()})(require('node:worker_threads'), require);`;
