import { type JsonObject, RunsheetError } from '../common/index.js';
import { type Children, type Plan, execute } from '../interpreter/index.js';
import type { JournalRow, RunRecord, Transition, Unit } from '../storage/index.js';
import { readTakenOver } from './entries.js';
import { givenUpAfter } from './interruptions.js';
import { JournalContext, WalkSuspended } from './journal-context.js';
import type { Unit as WrittenUnit } from './journal.js';
import { type EngineSettings, newRunId } from './options.js';

/** How a drive ended: the run is over, waits, was handed back, or is another engine's. */
export type DriveEnd = 'ended' | 'parked' | 'stopped' | 'lost';

export interface DriverOptions {
  readonly settings: EngineSettings;
  readonly owner: string;
  readonly record: RunRecord;
  readonly plan: Plan;
  readonly children: Children;
  /** Whether nobody else would gain from waiting for a shared commit. */
  readonly alone: () => boolean;
  /** Told of every unit once it is durable. */
  readonly onCommitted: (record: RunRecord, unit: Unit) => void;
}

/** Pages of this size are read on resume, with a turn of the event loop between them. */
const journalPage = 500;

/** Drives one leased run until it ends, waits, or is taken away. */
export class Driver {
  readonly #options: DriverOptions;
  #context: JournalContext | undefined;
  #stopping = false;
  /** On the monotonic clock. */
  #leaseEndsAt: number;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#leaseEndsAt = 0;
    this.renewed();
  }

  get id(): string {
    return this.#options.record.id;
  }

  get run(): number {
    return this.#options.record.run;
  }

  get interruptions(): number {
    return this.#options.record.interruptions;
  }

  get epoch(): number {
    return this.#options.record.epoch;
  }

  get handlersRunning(): boolean {
    return this.#context?.handlersRunning ?? false;
  }

  /** @throws whatever made it impossible to go on: a storage that fails, a fault of the interpreter. */
  async drive(): Promise<DriveEnd> {
    const { settings, record, plan, children } = this.#options;
    const { clock, handlers, logger, secrets, maxPayloadBytes, abortGraceMs, onOperation } = settings;
    // At its first claim a run has no entries, unless it took some over.
    const isNew = record.epoch === 1 && record.resumedFrom === null;
    const journal = isNew ? [] : await this.#readJournal(record.run);
    const over = readTakenOver(journal);
    const context = new JournalContext({
      meta: {
        id: record.id,
        key: record.key,
        workflow: record.workflow,
        revision: record.revision,
        hash: record.definitionHash,
        startedAt: record.startedAt ?? clock.now(),
        input: JSON.parse(record.input) as JsonObject,
        keyPrefix: over?.keyPrefix ?? record.id,
        handledAnew: new Map(
          (over?.handledAnew ?? []).map(({ step, occurrence, keyPrefix }) => [`${step}#${occurrence}`, keyPrefix]),
        ),
        reopened: record.status === 'compensating' && journal.some(isCompletedOutcome),
      },
      parent: record.parentId,
      journal,
      inboxSeq: record.inboxSeq,
      writer: {
        commit: (unit, transition, inboxSeq) => this.#commit(unit, transition, inboxSeq),
        secureLease: () => this.#secureLease(),
        readInbox: (afterSeq) => settings.storage.readInbox(record.run, afterSeq),
        readRun: (id) => settings.storage.getRun(id),
        hasPivot: (run) => this.#hasPivot(run),
      },
      clock,
      newRunId: () => newRunId(settings),
      givenUp: record.interruptions >= givenUpAfter,
      abortGraceMs,
      ...(onOperation && { onOperation: (operation: string) => onOperation(record.id, operation) }),
    });
    this.#context = context;
    if (this.#stopping) context.stop();
    try {
      if (journal.length === 0 && (await context.endIfNotBegun())) return 'ended';
      const services = { plan, handlers, clock, logger, secret: secrets, maxPayloadBytes, children };
      await context.end(await execute(context, services));
      return 'ended';
    } catch (error) {
      if (error instanceof WalkSuspended) return error.why;
      if (error instanceof RunsheetError && error.code === 'RS_LEASE_LOST') return 'lost';
      throw error;
    } finally {
      context.dispose();
    }
  }

  /** The engine has just extended the lease. */
  renewed(): void {
    const { settings } = this.#options;
    this.#leaseEndsAt = settings.clock.monotonic() + settings.runLeaseDurationMs;
  }

  /** Another engine has the run. */
  lost(): void {
    this.#context?.fence(leaseLost(this.#options.record));
  }

  /** There may be something new in the run's inbox. */
  inboxChanged(): void {
    this.#context?.inboxChanged();
  }

  /** Others could move the run on while it is driven, beside cancelling it. */
  get waitsForOthers(): boolean {
    return this.#context?.waitsForOthers ?? false;
  }

  stop(): void {
    this.#stopping = true;
    this.#context?.stop();
  }

  abortRunning(): void {
    this.#context?.abortRunning('the engine is stopping');
  }

  /** Gives the run up with handlers still running; its lease is left to expire. */
  abandon(): void {
    this.#context?.fence(new WalkSuspended('stopped'));
  }

  async #hasPivot(record: RunRecord): Promise<boolean> {
    return (await this.#readJournal(record.run)).some(({ kind }) => kind === 'pivot');
  }

  async #readJournal(run: number): Promise<JournalRow[]> {
    const rows: JournalRow[] = [];
    for (;;) {
      const page = await this.#options.settings.storage.readJournal(run, rows.at(-1)?.seq ?? 0, journalPage);
      rows.push(...page);
      if (page.length < journalPage) return rows;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #commit(written: WrittenUnit, transition?: Transition, inboxSeq?: number): Promise<boolean> {
    const { settings, owner, record, alone, onCommitted } = this.#options;
    const { entries, children, posts, reopen } = written;
    if (entries.length === 0 && posts.length === 0 && reopen.length === 0 && transition === undefined) return true;
    const unit: Unit = {
      run: record.run,
      owner,
      epoch: record.epoch,
      entries,
      ...(children.length > 0 && { children }),
      ...(posts.length > 0 && { posts }),
      ...(reopen.length > 0 && { reopen }),
      ...(transition && { transition }),
      ...(inboxSeq !== undefined && { inboxSeq }),
      ...(record.interruptions > 0 && entries.some(isOutcome) && { progress: true }),
    };
    const [result] = await settings.storage.commitUnits([unit], { alone: alone() });
    if (result === 'lease-lost') throw leaseLost(record);
    if (result !== 'committed') return false;
    onCommitted(record, unit);
    return true;
  }

  /** A handler must not begin where its effects could not be recorded before another engine repeats them. */
  #secureLease(): Promise<void> | undefined {
    const { clock, runLeaseDurationMs } = this.#options.settings;
    return this.#leaseEndsAt - clock.monotonic() >= runLeaseDurationMs / 3 ? undefined : this.#renewLease();
  }

  async #renewLease(): Promise<void> {
    const { settings, owner, record } = this.#options;
    const now = settings.clock.now();
    const expiresAt = now + settings.runLeaseDurationMs;
    const lost = await settings.storage.renewLeases(owner, [{ run: record.run, epoch: record.epoch }], expiresAt, now);
    if (lost.length > 0) throw leaseLost(record);
    this.renewed();
  }
}

function isCompletedOutcome({ kind, payload }: JournalRow): boolean {
  return kind === 'run-outcome' && (JSON.parse(payload ?? '{}') as { status: string }).status === 'completed';
}

/** Something has come of the run: its interruptions are no longer in a row. */
function isOutcome({ kind }: JournalRow): boolean {
  return (
    kind.endsWith('-completed') || kind.endsWith('-failed') || kind === 'signal-consumed' || kind === 'run-outcome'
  );
}

function leaseLost(record: RunRecord): RunsheetError {
  return new RunsheetError('RS_LEASE_LOST', `${record.id} is driven by another engine by now`);
}
