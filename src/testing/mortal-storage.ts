import type { Storage, Unit, UnitResult } from '../storage/index.js';

/** When a `MortalStorage` dies. */
export interface Death {
  /** After so many units have been committed. */
  readonly afterUnits: number;
  /** Whether the last unit is still written: the process dies before or after its commit. Default true. */
  readonly lastIsWritten?: boolean;
}

/**
 * One process's view of a storage that other processes outlive: from its death on nothing that it
 * asks for happens or is answered, as if the process had been killed.
 */
export function mortal(
  storage: Storage,
  { afterUnits, lastIsWritten = true }: Death,
): { storage: Storage; died: Promise<void> } {
  let units = 0;
  let dead = false;
  let die = (): void => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  const never = new Promise<never>(() => {});

  const commitUnits = async (batch: readonly Unit[]): Promise<UnitResult[]> => {
    units += 1;
    if (units < afterUnits) return storage.commitUnits(batch);
    if (lastIsWritten) await storage.commitUnits(batch);
    dead = true;
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
  return { storage: view, died };
}
