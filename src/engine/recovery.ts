import { checkSource } from '../check/index.js';
import { RunsheetError } from '../common/index.js';
import { type Definition, definitionFromCanonical, secretsGiven } from '../definition/index.js';
import type { ReleasedRun, RunRecord } from '../storage/index.js';
import { Source } from '../syntax/index.js';
import type { EngineSettings } from './options.js';
import type { DefinitionRegistry } from './registry.js';

/** What `recover` did, and what it found. */
export interface Recovery {
  /** Runs taken over from dead engines that were running, and that were being undone. */
  readonly running: number;
  readonly compensating: number;
  /** Parked runs with a registered definition: counted once, by the first `recover` while no other engine is alive. */
  readonly waiting: number;
  readonly total: number;
  /** Unfinished runs whose parent's row is gone; they go on by themselves. */
  readonly orphans: readonly string[];
  /** Unfinished runs that wait for their definition to be registered. */
  readonly definitionMissing: readonly {
    readonly run: string;
    readonly workflow: string;
    readonly revision: number;
    readonly hash: string;
  }[];
  /** Runs that were interrupted again and again, and are driven with nothing beside them. */
  readonly suspects: readonly string[];
}

export class Recoverer {
  readonly #settings: EngineSettings;
  readonly #owner: string;
  readonly #registry: DefinitionRegistry;
  #countedParked = false;

  constructor(settings: EngineSettings, owner: string, registry: DefinitionRegistry) {
    this.#settings = settings;
    this.#owner = owner;
    this.#registry = registry;
  }

  /** On a live engine it moves nothing twice: a row that was taken over has no dead owner any more. */
  async recover(): Promise<Recovery> {
    const { storage, clock } = this.#settings;
    const now = clock.now();
    const released = await this.#releaseDead(now);
    await this.#adoptStored(now);
    const survey = await storage.survey(this.#owner, this.#registry.hashes, now);
    const compensating = released.filter(({ status }) => status === 'compensating').length;
    const running = released.length - compensating;
    const waiting = this.#countedParked || survey.othersAlive ? 0 : survey.parked;
    if (!survey.othersAlive) this.#countedParked = true;
    return {
      running,
      compensating,
      waiting,
      total: running + compensating + waiting,
      orphans: survey.orphans,
      definitionMissing: survey.withoutDefinition.map(({ id, workflow, revision, definitionHash }: RunRecord) => ({
        run: id,
        workflow,
        revision,
        hash: definitionHash,
      })),
      suspects: survey.suspects,
    };
  }

  /** What cannot be proved now is no reason not to work: the leases of the dead expire by themselves. */
  async #releaseDead(now: number): Promise<ReleasedRun[]> {
    const { storage, logger } = this.#settings;
    try {
      return await storage.releaseDeadEngines(now);
    } catch (error) {
      if (!(error instanceof RunsheetError) || error.code !== 'RS_STORAGE_FAILED') throw error;
      logger.warn({ error }, 'not every dead engine could be told from a living one');
      return [];
    }
  }

  /** Takes up the stored documents of runs that have no registered definition; they never start new runs. */
  async #adoptStored(now: number): Promise<void> {
    const { storage, adoptStoredDefinitions, logger } = this.#settings;
    if (!adoptStoredDefinitions) return;
    const { withoutDefinition } = await storage.survey(this.#owner, this.#registry.hashes, now);
    for (const hash of new Set(withoutDefinition.map(({ definitionHash }) => definitionHash))) {
      const stored = await storage.readDefinition(hash);
      if (stored === undefined) continue;
      try {
        this.#registry.adopt(this.#trusted(definitionFromCanonical(stored.document), hash));
      } catch (error) {
        logger.warn({ hash, error }, 'a stored definition cannot be taken up; its runs stay as they are');
      }
    }
  }

  /** The database is not where flows are reviewed: what comes from there is held to more than a file is. */
  #trusted(definition: Definition, hash: string): Definition {
    const refuse = (why: string): RunsheetError => new RunsheetError('RS_DEFINITION_INVALID', `${hash}: ${why}`);
    if (definition.hash !== hash) throw refuse('the stored document is not the one of this hash');
    const text = JSON.stringify(definition.document);
    const source = new Source(`${definition.name} revision ${definition.revision} as stored`, text);
    const { diagnostics } = checkSource(source, { handlers: this.#settings.handlers.catalogue() });
    const error = diagnostics.find(({ severity }) => severity === 'error');
    if (error !== undefined) throw refuse(error.message);
    const known = this.#registry.definitions().flatMap(({ document }) => secretsGiven(document));
    const unknown = secretsGiven(definition.document).filter(
      ({ name, handler }) => !known.some((each) => each.name === name && each.handler === handler),
    );
    if (unknown.length > 0) {
      const pairs = unknown.map(({ name, handler }) => `${name} to ${handler}`);
      throw refuse(`no registered flow gives these secrets to these handlers: ${[...new Set(pairs)].join(', ')}`);
    }
    return definition;
  }
}
