import { exitCodes } from './exit-codes.js';
import { harmlessOutput } from './harmless-output.js';
import { processIo } from './io.js';

/**
 * What nobody caught (a promise of a handler that nobody waits for, say) ends the process, since nobody knows what
 * state it is in; with a line that says so instead of a page of Node's.
 */
export function endOnFault(argv: readonly string[]): void {
  let ending = false;
  const end = (error: unknown): void => {
    if (ending) return;
    ending = true;
    import('./failure.js')
      .then(({ reportFailure }) =>
        reportFailure(error, { verbose: argv.includes('--verbose') }, harmlessOutput(processIo)),
      )
      .finally(() => process.exit(exitCodes.failed));
  };
  process.on('uncaughtException', end).on('unhandledRejection', end);
}
