import { checkSource } from '../check/index.js';
import type { Definition } from '../definition/index.js';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Source, renderDiagnostics } from '../syntax/index.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import type { Io } from './io.js';
import { renderOptions } from './terminal-text.js';

/**
 * The definition of a flow that a command needs valid. Its errors are shown on stderr; warnings are for `validate`.
 *
 * @throws CommandFailure (invalid flow)
 */
export async function validDefinition(
  source: Source,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<Definition> {
  const options = handlers === undefined ? {} : { handlers: handlers.catalogue() };
  const { definition, diagnostics } = await checkSource(source, options);
  if (definition !== undefined) return definition;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  io.err(`${renderDiagnostics(errors, source, renderOptions(io, 'err'))}\n`);
  throw new CommandFailure(
    exitCodes.invalidFlow,
    `${source.name} has ${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}, so nothing was done`,
  );
}
