import type { Timer } from '../common/index.js';
import type { RetentionQuery } from '../storage/index.js';
import type { EngineSettings } from './options.js';

/** Retention by itself, while the engine is started. Ages in milliseconds. */
export interface RetentionOptions {
  readonly archiveAfterMs?: number;
  readonly cleanupAfterMs?: number;
  readonly statuses?: NonNullable<RetentionQuery['statuses']>;
  /** How often it is looked. Default: an hour. */
  readonly everyMs?: number;
}

const runsPerCall = 1000;
const hourMs = 3_600_000;

/** Puts finished runs away, and removes them. */
export class Retention {
  readonly #settings: EngineSettings;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(settings: EngineSettings) {
    this.#settings = settings;
  }

  /** All of them, step by step. */
  async cleanup(ageMs: number, statuses?: RetentionOptions['statuses']): Promise<number> {
    const query = this.#query(ageMs, statuses);
    let removed = 0;
    for (;;) {
      const now = await this.#settings.storage.cleanup(query);
      removed += now;
      if (now === 0) return removed;
    }
  }

  archive(ageMs: number, statuses?: RetentionOptions['statuses']): Promise<number> {
    return this.#settings.storage.archive(this.#query(ageMs, statuses), this.#settings.clock.now());
  }

  start(): void {
    const { retention, clock, logger } = this.#settings;
    if (retention === undefined || this.#timer !== undefined || this.#stopped) return;
    this.#timer = clock.setTimer(
      retention.everyMs ?? hourMs,
      () => {
        this.#timer = undefined;
        this.#apply(retention)
          .catch((error: unknown) => logger.warn({ error }, 'retention failed; it will be tried again'))
          .finally(() => this.start());
      },
      { keepAlive: false },
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #apply({ archiveAfterMs, cleanupAfterMs, statuses }: RetentionOptions): Promise<void> {
    if (cleanupAfterMs !== undefined) await this.cleanup(cleanupAfterMs, statuses);
    if (archiveAfterMs !== undefined) while ((await this.archive(archiveAfterMs, statuses)) > 0 && !this.#stopped);
  }

  #query(ageMs: number, statuses: RetentionOptions['statuses']): RetentionQuery {
    const endedBefore = this.#settings.clock.now() - ageMs;
    return { endedBefore, limit: runsPerCall, ...(statuses && { statuses }) };
  }
}
