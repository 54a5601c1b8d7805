import { type FSWatcher, existsSync, statSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { reportFailure } from './failure.js';
import type { Interruption, Io } from './io.js';
import { definitionsSetting, handlersSetting } from './settings.js';

export interface Watched {
  /** Absent: the folder of definitions. */
  readonly paths: readonly string[];
  readonly definitions?: string | undefined;
  /** `false`: handlers do not matter. */
  readonly handlers?: string | false | undefined;
}

/** An editor that saves makes several changes at once; this long after the last one it is done. */
const quietMs = 100;

/** Does something now, and again whenever a flow, a test or a handler changes, until interrupted. */
export async function watchProject(watched: Watched, io: Io, act: () => Promise<void>): Promise<ExitCode> {
  let changed = (): void => {};
  const watchers = new Map<string, FSWatcher>();
  // A folder that is made or replaced is seen from its parent, so places are looked for again each time.
  const watchPlaces = (): void => {
    for (const [folder, names] of placesOf(watched, io)) {
      if (watchers.has(folder)) continue;
      const watcher = watch(folder, (_event, name) => {
        if (name === null || names.has(name) || (names.has('*') && isSource(name))) changed();
      });
      const forget = (): void => {
        watcher.close();
        watchers.delete(folder);
      };
      watchers.set(folder, watcher.on('error', forget).on('close', forget));
    }
  };
  let stop = (_signal: Interruption): void => {};
  const stopped = new Promise<Interruption>((resolve) => (stop = resolve));
  const endListening = io.onInterrupt((signal) => stop(signal));
  try {
    for (;;) {
      const change = new Promise<void>((resolve) => (changed = quietly(io, resolve)));
      watchPlaces();
      await act().catch((error: unknown) => reportFailure(error, { verbose: false }, io));
      io.err('watching for changes; Ctrl-C ends\n');
      const signal = await Promise.race([stopped, change]);
      if (signal !== undefined) return signal === 'SIGTERM' ? exitCodes.fine : exitCodes.interrupted;
    }
  } finally {
    endListening();
    for (const watcher of watchers.values()) watcher.close();
  }
}

/** Calls once the calls to it have ceased for a moment. */
function quietly({ clock }: Io, call: () => void): () => void {
  let timer: { cancel(): void } | undefined;
  return () => {
    timer?.cancel();
    timer = clock.setTimer(quietMs, call);
  };
}

/** Flows, tests and handlers, and what handlers may import. */
function isSource(name: string): boolean {
  return /\.(yaml|yml|json|[cm]?[jt]s)$/.test(name);
}

/** The folders to watch, with the names that matter in each; `*` are all sources. */
function placesOf({ paths, definitions, handlers }: Watched, io: Io): Map<string, Set<string>> {
  const folder = definitionsSetting(definitions, io).path;
  const places = new Map<string, Set<string>>();
  const add = (place: string, name: string): void => {
    if (existsSync(place)) places.set(place, (places.get(place) ?? new Set()).add(name));
  };
  for (const path of [...paths, folder, ...(handlers === false ? [] : [handlersSetting(handlers, io).path])]) {
    const place = resolve(io.cwd, path);
    add(dirname(place), basename(place));
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) add(place, '*');
  }
  return places;
}
