import { entryOf } from '../../syntax/index.js';
import type { FlowItem, FlowModel } from '../flow-model.js';

/** The steps that a named policy applies to; without a name, those that the one of `defaults` applies to. */
export function stepsWithPolicy({ items, policies }: FlowModel, name: string | undefined): FlowItem[] {
  const ofDefaults = items.filter(({ verb, node }) => verb === 'step' && entryOf(node, 'retry') === undefined);
  if (name === undefined) return ofDefaults;
  return policies
    .filter((use) => use.name === name)
    .flatMap(({ item }): readonly FlowItem[] => (item === undefined ? ofDefaults : [item]));
}
