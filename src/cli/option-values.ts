import { InvalidArgumentError } from 'commander';
import type { RunStatus } from '../storage/index.js';

// The storage, which has lists of these too, is not loaded before a command needs it.
const ended = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[];
const statuses = [
  ...(['pending', 'running', 'sleeping', 'waiting', 'retrying', 'compensating', 'compensation-stuck'] as const),
  ...ended,
] as const satisfies readonly RunStatus[];

/** States of runs, separated by commas, added to those that were given before. */
export const addStatuses = adder<RunStatus>(statuses);

/** The same of states that a run does not leave any more. */
export const addEndedStatuses = adder<(typeof ended)[number]>(ended);

function adder<Status extends RunStatus>(
  known: readonly Status[],
): (text: string, earlier?: readonly Status[]) => readonly Status[] {
  return (text, earlier = []) => {
    const added = text.split(',').map((name) => {
      const status = known.find((each) => each === name.trim());
      if (status === undefined) throw new InvalidArgumentError(`the states are ${known.join(', ')}`);
      return status;
    });
    return [...earlier, ...added];
  };
}

/** A name or key. An empty one is nearly always a variable of the shell that is not set. */
export function nonEmpty(text: string): string {
  if (!/\S/.test(text)) throw new InvalidArgumentError('it must not be empty; is the variable that it comes from set?');
  return text;
}

export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

export function addNames(text: string, earlier: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  if (given.length === 0) throw new InvalidArgumentError('give at least one name');
  return [...earlier, ...given];
}

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < least) {
      throw new InvalidArgumentError(`it must be a whole number from ${least} on`);
    }
    return number;
  };
}
