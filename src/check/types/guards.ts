import type { Condition, Enclosure, Place } from '../flow-model.js';

/** The conditions that have been looked at on the way to a place: what they mention is guarded there. */
export function guardsOf({ standing, within }: Place): string[] {
  switch (standing.kind) {
    case 'when':
      return textsOf(within.flatMap(guardsIn));
    case 'field':
      return textsOf([...within.flatMap(guardsIn), standing.item.when]);
    case 'turn':
      // The loop is around its own condition.
      return textsOf([...within.slice(0, -1).flatMap(guardsIn), standing.item.when]);
    case 'choice': {
      const { item, kind } = standing.enclosure;
      const around = kind === 'handler' ? within.slice(0, -1) : within;
      const before = kind === 'handler' ? [] : armsBefore(standing.enclosure);
      return textsOf([...around.flatMap(guardsIn), item.when, ...before.map(({ when }) => when)]);
    }
    case 'end':
    case 'policy':
      return [];
  }
}

/** Those on the way into a list, the ones around its item left aside. */
function guardsIn(enclosure: Enclosure): (Condition | undefined)[] {
  const { item, kind, when } = enclosure;
  switch (kind) {
    case 'arm':
      return [item.when, ...armsBefore(enclosure).map((arm) => arm.when), when];
    case 'handler':
      return [item.when, when];
    case 'turn':
      return item.verb === 'doWhile' ? [item.when, item.condition] : [item.when];
    case 'element':
    case 'branch':
    case 'part':
      return [item.when];
  }
}

function armsBefore(arm: Enclosure): readonly Enclosure[] {
  return arm.item.bodies.slice(0, arm.item.bodies.indexOf(arm));
}

function textsOf(conditions: readonly (Condition | undefined)[]): string[] {
  return conditions.flatMap((condition) => condition?.formula?.text ?? []);
}
