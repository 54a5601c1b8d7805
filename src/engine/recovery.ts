import { definitionFromCanonical } from '../definition/index.js';
import type { RunRecord } from '../storage/index.js';
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
    const released = await storage.releaseDeadEngines(now);
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

  /** Takes up the stored documents of runs that have no registered definition; they never start new runs. */
  async #adoptStored(now: number): Promise<void> {
    const { storage, adoptStoredDefinitions, logger } = this.#settings;
    if (!adoptStoredDefinitions) return;
    const { withoutDefinition } = await storage.survey(this.#owner, this.#registry.hashes, now);
    for (const hash of new Set(withoutDefinition.map(({ definitionHash }) => definitionHash))) {
      const stored = await storage.readDefinition(hash);
      if (stored === undefined) continue;
      try {
        const definition = definitionFromCanonical(stored.document);
        // A document that was tampered with is another definition, not this run's.
        if (definition.hash === hash) this.#registry.adopt(definition);
      } catch (error) {
        logger.warn({ hash, error }, 'a stored definition cannot be taken up; its runs stay as they are');
      }
    }
  }
}
