import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import type { Io } from './io.js';

const flag = '--untrusted';
const variable = 'RUNSHEET_UNTRUSTED';

/**
 * Who says that no code of the project may be executed, as messages name it: the option or the environment. Any value
 * of the variable but an empty one, `0` and `false` counts: a typo must not execute the code of a stranger.
 */
export function untrustedBy(isGiven: boolean | undefined, env: Io['env']): string | undefined {
  if (isGiven === true) return flag;
  const value = (env[variable] ?? '').trim().toLowerCase();
  return ['', '0', 'false'].includes(value) ? undefined : variable;
}

/** @throws CommandFailure (usage) where `what` would execute code of the project and must not */
export function assertTrusted({ untrusted }: Io, what: string): void {
  if (untrusted === undefined) return;
  throw new CommandFailure(
    exitCodes.usage,
    `${what}, and ${untrusted} forbids executing code of the project; leave it out where you trust the project`,
  );
}
