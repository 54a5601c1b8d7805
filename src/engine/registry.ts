import { RunsheetError } from '../common/index.js';
import { type Definition, Revisions, handlersOf, validateInput, walkItems } from '../definition/index.js';
import type { HandlerRegistry } from '../handlers/index.js';
import { type Children, type Plan, compilePlan } from '../interpreter/index.js';
import { type Storage, openStatuses } from '../storage/index.js';

/** The definitions that an engine can drive: several revisions of a workflow side by side, by hash. */
export class DefinitionRegistry {
  readonly #handlers: HandlerRegistry;
  readonly #plans = new Map<string, Plan>();
  readonly #definitions = new Map<string, Definition>();
  readonly #revisions = new Revisions();
  readonly #newest = new Map<string, Definition>();

  constructor(handlers: HandlerRegistry) {
    this.#handlers = handlers;
  }

  /**
   * Makes a definition ready to be driven, and to start new runs. Nothing is kept if it is refused.
   *
   * @throws RunsheetError `RS_HANDLER_UNKNOWN`, `RS_DEFINITION_CONFLICT`
   */
  add(definition: Definition): void {
    this.#revisions.add(definition);
    this.adopt(definition);
    const newest = this.#newest.get(definition.name);
    if (newest === undefined || definition.revision >= newest.revision) this.#newest.set(definition.name, definition);
  }

  /** @throws RunsheetError `RS_HANDLER_UNKNOWN`, `RS_DEFINITION_CONFLICT` where it could not be added */
  checkNew(definition: Definition): void {
    this.#revisions.check(definition);
    this.check(definition);
  }

  /** Makes a definition ready to be driven by the runs that are on it. @throws as `add` */
  adopt(definition: Definition): void {
    if (this.#plans.has(definition.hash)) return;
    this.check(definition);
    this.#plans.set(definition.hash, compilePlan(definition));
    this.#definitions.set(definition.hash, definition);
  }

  definitions(): readonly Definition[] {
    return [...this.#definitions.values()];
  }

  newestOf(name: string): Definition | undefined {
    return this.#newest.get(name);
  }

  /** Those whose newest revision has a schedule. */
  scheduledWorkflows(): readonly string[] {
    const scheduled = [...this.#newest.values()].filter(({ document }) => (document.schedule ?? []).length > 0);
    return scheduled.map(({ name }) => name);
  }

  plan(hash: string): Plan | undefined {
    return this.#plans.get(hash);
  }

  get hashes(): readonly string[] {
    return [...this.#plans.keys()];
  }

  /** @throws RunsheetError `RS_DEFINITION_UNKNOWN` naming those there are */
  newest(name: string): Definition {
    const definition = this.#newest.get(name);
    if (definition !== undefined) return definition;
    const names = [...this.#newest.keys()].sort().join(', ');
    throw new RunsheetError(
      'RS_DEFINITION_UNKNOWN',
      `no workflow ${JSON.stringify(name)} is registered${names === '' ? '; none is' : `; there are ${names}`}`,
    );
  }

  /** What runs of this engine can start. */
  children(): Children {
    return {
      resolve: async (workflow, revision) => {
        const definition =
          revision === undefined
            ? this.#newest.get(workflow)
            : [...this.#definitions.values()].find((one) => one.name === workflow && one.revision === revision);
        if (definition === undefined) return undefined;
        const { hash } = definition;
        return { revision: definition.revision, hash, validate: (input) => validateInput(definition, input) };
      },
    };
  }

  get(hash: string): Definition | undefined {
    return this.#definitions.get(hash);
  }

  /** @throws RunsheetError `RS_HANDLER_UNKNOWN` naming all that are missing */
  check({ document, name }: Definition): void {
    const missing = new Map<string, string>();
    walkItems(document, ({ item, key }) => {
      for (const handler of handlersOf(item)) if (!this.#handlers.has(handler)) missing.set(handler, key);
    });
    if (missing.size === 0) return;
    const list = [...missing].map(([handler, step]) => `${handler} (step ${step})`).join(', ');
    throw new RunsheetError(
      'RS_HANDLER_UNKNOWN',
      `${name} calls handlers that are not registered: ${list}; register them or correct the names`,
    );
  }
}

/**
 * Keeps a definition in the storage, so that runs can be told what they are driven by.
 *
 * @throws RunsheetError `RS_DEFINITION_CONFLICT` while an unfinished run is on another content of the same revision
 */
export async function storeDefinition(storage: Storage, definition: Definition, now: number): Promise<void> {
  const { name, revision, hash, canonical, source } = definition;
  const others = await storage.unfinishedHashes(name, revision, hash);
  if (others.length > 0) {
    const runs = await runsOn(storage, name, others);
    throw new RunsheetError(
      'RS_DEFINITION_CONFLICT',
      `${name} revision ${revision} is stored as ${others.join(', ')} with runs that have not ended (${runs}; ` +
        `\`runsheet list --workflow ${name}\` shows all), and cannot become ${hash}; ` +
        'give the changed flow a higher revision',
    );
  }
  await storage.storeDefinition({
    hash,
    workflow: name,
    revision,
    document: canonical,
    source: source?.text ?? null,
    storedAt: now,
  });
}

/** Enough of them to begin with. */
const mostNamed = 3;

/** Unfinished runs of a workflow that are on one of these hashes, by id. */
async function runsOn(storage: Storage, workflow: string, hashes: readonly string[]): Promise<string> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { workflow, statuses: openStatuses, ...(cursor !== undefined && { cursor }) };
    const page = await storage.listRuns(query);
    found.push(...page.runs.filter(({ definitionHash }) => hashes.includes(definitionHash)).map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length <= mostNamed);
  return [...found.slice(0, mostNamed), ...(found.length > mostNamed ? ['…'] : [])].join(', ');
}
