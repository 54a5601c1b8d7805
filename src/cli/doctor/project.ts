import { existsSync } from 'node:fs';
import { checkSource } from '../../check/index.js';
import type { Definition } from '../../definition/index.js';
import type { HandlerRegistry } from '../../handlers/index.js';
import { filesOf, readFlow } from '../flow-files.js';
import { type Io, pathOf } from '../io.js';
import { projectHandlers } from '../project-handlers.js';
import { handlersSetting } from '../settings.js';
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

export async function checkProject(
  handlersPath: string | undefined,
  definitionsPath: string,
  io: Io,
): Promise<Project> {
  const loaded = await loadHandlers(handlersPath, io);
  const checked = await checkDefinitions(definitionsPath, loaded.handlers, io);
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
    return {
      finding: problem('handlers', reason, '`runsheet handlers` shows all that is wrong with them'),
      handlers: undefined,
    };
  }
}

async function checkDefinitions(
  folder: string,
  handlers: HandlerRegistry | undefined,
  io: Io,
): Promise<{ finding: Finding; definitions: readonly Definition[] }> {
  if (!existsSync(pathOf(io, folder))) {
    const remedy = 'name the folder by --definitions, or make a project by `runsheet init`';
    return { finding: warning('flows', `there is no folder ${folder} of flows`, remedy), definitions: [] };
  }
  const options = handlers === undefined ? {} : { handlers: handlers.catalogue() };
  const definitions: Definition[] = [];
  const wrong: string[] = [];
  for (const file of await filesOf(folder, io)) {
    const { definition } = checkSource(await readFlow(file, io), options);
    if (definition === undefined) wrong.push(file);
    else definitions.push(definition);
  }
  const finding =
    wrong.length === 0
      ? fine('flows', `${countText(definitions.length, 'flow')} without mistakes`)
      : problem('flows', `mistakes in ${wrong.join(', ')}`, '`runsheet validate` shows them');
  return { finding, definitions };
}
