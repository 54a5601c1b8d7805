import { RunsheetError } from '../common/index.js';
import type {
  Claim,
  FirstUnit,
  JournalRow,
  Lease,
  NewRun,
  RunRecord,
  Started,
  Transition,
  Unit,
} from '../storage/index.js';
import { WalkSuspended } from './journal-context.js';
import type { Unit as WrittenUnit } from './journal.js';
import type { EngineSettings } from './options.js';
import { persist } from './persistence.js';

export interface DrivenRunOptions {
  readonly settings: EngineSettings;
  readonly owner: string;
  /** Whether nobody else would gain from waiting for a shared commit. */
  readonly alone: () => boolean;
  /** Told of every unit once it is durable. */
  readonly onCommitted: (record: RunRecord, unit: Unit) => void;
}

/** A run that is not in the storage yet: its first unit takes it there, leased. */
export interface Beginning {
  readonly run: NewRun;
  /** As of when the walk began, which is when the run has started. The lease begins with the transaction. */
  readonly claim: Omit<Claim, 'leaseExpiresAt'>;
  /** What came of it; not told where it could not be written. */
  readonly onStarted: (started: Started) => void;
}

/** A run as its driver holds it: under a lease, through which alone its journal is written. */
export class DrivenRun {
  readonly #options: DrivenRunOptions;
  readonly #beginning: Beginning | undefined;
  #record: RunRecord | undefined;
  #starting: Promise<boolean> | undefined;
  #isLost = false;
  #isGivenUp = false;
  /** On the monotonic clock. */
  #leaseEndsAt = 0;

  constructor(options: DrivenRunOptions, run: RunRecord | Beginning) {
    this.#options = options;
    this.#beginning = 'claim' in run ? run : undefined;
    this.#record = 'claim' in run ? undefined : run;
    this.renewed();
  }

  /** As it was claimed; undefined where it is not in the storage yet. */
  get record(): RunRecord | undefined {
    return this.#record;
  }

  get about(): Pick<RunRecord, 'id' | 'key' | 'workflow' | 'revision' | 'definitionHash' | 'input'> {
    return this.#known;
  }

  /** Its first claim, if this is the first: nothing is in its journal that this drive has not written. */
  get isNew(): boolean {
    return this.#record === undefined || (this.#record.epoch === 1 && this.#record.resumedFrom === null);
  }

  get startedAt(): number {
    return this.#record?.startedAt ?? this.#beginning?.claim.now ?? this.#options.settings.clock.now();
  }

  get lease(): Lease | undefined {
    return this.#record && { run: this.#record.run, epoch: this.#record.epoch };
  }

  /** Resolves when it is known whether the run is in the storage: at once, unless that is being found out. */
  async settled(): Promise<void> {
    // Why it is not there is for whoever commits.
    if (this.#record === undefined) await this.#starting?.catch(() => {});
  }

  /** The engine has just extended the lease. */
  renewed(): void {
    const { settings } = this.#options;
    this.#leaseEndsAt = settings.clock.monotonic() + settings.runLeaseDurationMs;
  }

  /** What the storage refuses from now on is not tried again. */
  giveUp(): void {
    this.#isGivenUp = true;
  }

  /** Nothing is written any more. */
  lost(): void {
    this.#isLost = true;
  }

  /** @throws as `JournalWriter.commit`, and WalkSuspended where the run could not be begun here */
  async commit(written: WrittenUnit, transition?: Transition, inboxSeq?: number): Promise<boolean> {
    this.#throwIfLost();
    const { entries, posts, reopen } = written;
    if (entries.length === 0 && posts.length === 0 && reopen.length === 0 && transition === undefined) return true;
    const unit: FirstUnit = transition === undefined ? written : { ...written, transition };
    if (this.#record === undefined) {
      if (this.#starting === undefined) return (this.#starting = this.#start(unit));
      // What follows while the first unit is under way waits for it.
      await this.#starting;
      this.#throwIfLost();
    }
    return this.#commit(unit, inboxSeq);
  }

  /** A handler must not begin where its effects could not be recorded before another engine repeats them. */
  secureLease(): Promise<void> | undefined {
    const { clock, runLeaseDurationMs } = this.#options.settings;
    return this.#leaseEndsAt - clock.monotonic() >= runLeaseDurationMs / 3 ? undefined : this.#renewLease();
  }

  leaseLost(): RunsheetError {
    return new RunsheetError('RS_LEASE_LOST', `${this.#known.id} is driven by another engine by now`);
  }

  async #start(first: FirstUnit): Promise<boolean> {
    const { settings, owner, alone, onCommitted } = this.#options;
    const { run, claim, onStarted } = this.#beginning ?? neither();
    this.renewed();
    const leaseExpiresAt = settings.clock.now() + settings.runLeaseDurationMs;
    const started = await settings.storage.startRun(run, { ...claim, leaseExpiresAt }, first, { alone: alone() });
    const { created, claimed } = started;
    const isBegun = created && claimed?.id === run.id;
    if (isBegun) this.#record = claimed;
    onStarted(started);
    if (!isBegun) throw new WalkSuspended('not-begun');
    onCommitted(claimed, { run: claimed.run, epoch: claimed.epoch, owner, ...first });
    return true;
  }

  async #commit(written: FirstUnit, inboxSeq: number | undefined): Promise<boolean> {
    const { settings, owner, alone, onCommitted } = this.#options;
    const record = this.#record ?? neither();
    const unit: Unit = {
      run: record.run,
      owner,
      epoch: record.epoch,
      ...written,
      ...(inboxSeq !== undefined && { inboxSeq }),
      ...(record.interruptions > 0 && written.entries.some(isOutcome) && { progress: true }),
    };
    const [result] = await this.#persist(() => settings.storage.commitUnits([unit], { alone: alone() }));
    if (result === 'lease-lost') throw this.leaseLost();
    if (result !== 'committed') return false;
    onCommitted(record, unit);
    return true;
  }

  async #renewLease(): Promise<void> {
    const { settings, owner } = this.#options;
    const { lease } = this;
    if (lease === undefined) return;
    const lost = await this.#persist(() => {
      const now = settings.clock.now();
      return settings.storage.renewLeases(owner, [lease], now + settings.runLeaseDurationMs, now);
    });
    if (lost.length > 0) throw this.leaseLost();
    this.renewed();
  }

  /** What a handler has brought is not thrown away, to be called again, while nobody else can have the run. */
  #persist<T>(write: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options.settings;
    const leaseEndsAt = this.#leaseEndsAt;
    const attempt = (): Promise<T> => {
      this.#throwIfLost();
      return write();
    };
    return persist(attempt, {
      clock,
      until: () => (this.#isGivenUp ? Number.NEGATIVE_INFINITY : leaseEndsAt),
      onTrouble: (error) => {
        const what = 'what a run has done cannot be written; it is tried again until the lease expires';
        logger.warn({ run: this.#known.id, error }, what);
      },
    });
  }

  #throwIfLost(): void {
    if (this.#isLost) throw this.leaseLost();
  }

  get #known(): RunRecord | NewRun {
    return this.#record ?? this.#beginning?.run ?? neither();
  }
}

function neither(): never {
  throw new Error('fault in the engine: a run that is neither leased nor to be begun');
}

/** Something has come of the run: its interruptions are no longer in a row. */
function isOutcome({ kind }: JournalRow): boolean {
  return (
    kind.endsWith('-completed') || kind.endsWith('-failed') || kind === 'signal-consumed' || kind === 'run-outcome'
  );
}
