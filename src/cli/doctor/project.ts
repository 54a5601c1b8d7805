import { existsSync } from 'node:fs';
import { checkSource } from '../../check/index.js';
import type { Definition } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import { CommandFailure } from '../failure.js';
import { filesOf, readIn } from '../flow-files.js';
import { type Io, pathOf } from '../io.js';
import { projectHandlers } from '../project-handlers.js';
import { type PathSetting, handlersSetting, namedBy } from '../settings.js';
import { countText } from '../text.js';
import { type Finding, fine, problem, warning } from './finding.js';

/** What the project has to drive runs with, as far as it could be loaded. */
export interface Project {
  readonly findings: readonly Finding[];
  /** Undefined: there are none, or they cannot be loaded. */
  readonly handlers: HandlerRegistry | undefined;
  /** Those without mistakes. */
  readonly definitions: readonly Definition[];
}

export async function checkProject(handlersPath: string | undefined, folder: PathSetting, io: Io): Promise<Project> {
  const loaded = await loadHandlers(handlersPath, io);
  const checked = await checkDefinitions(folder, loaded.handlers, io);
  return {
    handlers: loaded.handlers,
    definitions: checked.definitions,
    findings: [loaded.finding, checked.finding],
  };
}

async function loadHandlers(
  path: string | undefined,
  io: Io,
): Promise<{ finding: Finding; handlers: HandlerRegistry | undefined }> {
  if (io.untrusted !== undefined) {
    return { finding: fine('handlers', `not loaded: ${io.untrusted}`), handlers: undefined };
  }
  try {
    const handlers = await projectHandlers(path, io);
    const finding =
      handlers === undefined
        ? warning(
            'handlers',
            `there is no folder \`${handlersSetting(path, io).path}\` here`,
            'name the folder by --handlers',
          )
        : fine('handlers', countText(handlers.names().length, 'handler'));
    return { finding, handlers };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    const finding =
      error instanceof CommandFailure
        ? ofFailure('handlers', error)
        : problem('handlers', reason, '`runsheet handlers` shows all that is wrong with them');
    return { finding, handlers: undefined };
  }
}

/** The messages of commands end in what to do. */
function ofFailure(subject: string, { message }: CommandFailure): Finding {
  const [what = '', ...remedies] = message.split('; ');
  return problem(subject, what, remedies.join('; '));
}

const noFlows = 'name the folder by --definitions, or make a project by `runsheet init`';

async function checkDefinitions(
  setting: PathSetting,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<{ finding: Finding; definitions: readonly Definition[] }> {
  const { path: folder, givenBy } = setting;
  if (!existsSync(pathOf(io, folder))) {
    // What nobody named may well be elsewhere.
    const finding = givenBy === undefined ? warning : problem;
    const message = `there is no folder ${folder} of flows${namedBy(setting)}`;
    return { finding: finding('flows', message, noFlows), definitions: [] };
  }
  const options = handlers === undefined ? {} : { handlers: handlers.catalogue() };
  const definitions: Definition[] = [];
  const wrong: string[] = [];
  let files: readonly string[];
  try {
    files = await filesOf(folder, io);
  } catch (error) {
    if (error instanceof CommandFailure) return { finding: warning('flows', error.message, noFlows), definitions: [] };
    throw error;
  }
  for (const file of files) {
    const { definition } = checkSource(await readIn(folder, file, io), options);
    if (definition === undefined) wrong.push(file);
    else definitions.push(definition);
  }
  const finding =
    wrong.length === 0
      ? fine('flows', `${countText(definitions.length, 'flow')} without mistakes`)
      : problem('flows', `mistakes in ${wrong.join(', ')}`, '`runsheet validate` shows them');
  return { finding, definitions };
}
