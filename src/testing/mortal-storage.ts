import type { Storage, Unit, UnitResult } from '../storage/index.js';

/** When a `MortalStorage` dies by itself: at the commit of a unit. */
export interface Death {
  /** At the unit of this number, counted from 1; or at the first one that this says yes to. */
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

  const isLast = (batch: readonly Unit[]): boolean =>
    typeof afterUnits === 'number' ? units >= afterUnits : batch.some(afterUnits);

  const commitUnits = async (batch: readonly Unit[]): Promise<UnitResult[]> => {
    units += 1;
    if (!isLast(batch)) return storage.commitUnits(batch);
    if (lastIsWritten) await storage.commitUnits(batch);
    die();
    return never;
  };

  const view = new Proxy(storage, {
    get(target, property) {
      if (property === 'commitUnits') return (batch: readonly Unit[]) => (dead ? never : commitUnits(batch));
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      if (property === 'onForeignChange' || property === 'onEngineDeath') return member.bind(target);
      return (...args: unknown[]) => (dead ? never : Reflect.apply(member, target, args));
    },
  });
  return { storage: view, died, die };
}
