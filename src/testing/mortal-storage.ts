import type { Storage, Unit } from '../storage/index.js';

/** When a `MortalStorage` dies by itself: at the commit of a unit. */
export interface Death {
  /**
   * At the unit of this number, counted from 1; or at the first one that this says yes to, of those of runs that are
   * in the storage by then.
   */
  readonly afterUnits: number | ((unit: Unit) => boolean);
  /** Whether that unit is still written: the process dies before or after its commit. Default true. */
  readonly lastIsWritten?: boolean;
}

export interface Mortal {
  readonly storage: Storage;
  readonly died: Promise<void>;
  /** Dies now, whatever is under way. */
  die(): void;
}

/**
 * One process's view of a storage that other processes outlive: from its death on nothing that it
 * asks for happens or is answered, as if the process had been killed.
 *
 * @param death without it the process dies only by `die`
 */
export function mortal(storage: Storage, { afterUnits, lastIsWritten = true }: Death): Mortal {
  let units = 0;
  let dead = false;
  let tell = (): void => {};
  const died = new Promise<void>((resolve) => (tell = resolve));
  const never = new Promise<never>(() => {});

  const die = (): void => {
    dead = true;
    tell();
  };

  const write = async <T>(batch: readonly Unit[], commit: () => Promise<T>): Promise<T> => {
    units += 1;
    const isLast = typeof afterUnits === 'number' ? units >= afterUnits : batch.some(afterUnits);
    if (!isLast) return commit();
    if (lastIsWritten) await commit();
    die();
    return never;
  };
  const commitUnits: Storage['commitUnits'] = (batch) =>
    dead ? never : write(batch, () => storage.commitUnits(batch));
  const startRun: Storage['startRun'] = (run, claim, first) =>
    dead ? never : write([], () => storage.startRun(run, claim, first));

  const view = new Proxy(storage, {
    get(target, property) {
      if (property === 'commitUnits') return commitUnits;
      if (property === 'startRun') return startRun;
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      if (property === 'onForeignChange' || property === 'onEngineDeath') return member.bind(target);
      return (...args: unknown[]) => (dead ? never : Reflect.apply(member, target, args));
    },
  });
  return { storage: view, died, die };
}
