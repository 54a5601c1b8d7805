import { type JsonObject, RunsheetError } from '../common/index.js';
import { type Plan, execute } from '../interpreter/index.js';
import type { JournalRow, RunRecord, Transition } from '../storage/index.js';
import { JournalContext, WalkSuspended } from './journal-context.js';
import type { EngineSettings } from './options.js';

/** How a drive ended: the run is over, waits, was handed back, or is another engine's. */
export type DriveEnd = 'ended' | 'parked' | 'stopped' | 'lost';

export interface DriverOptions {
  readonly settings: EngineSettings;
  readonly owner: string;
  readonly record: RunRecord;
  readonly plan: Plan;
  /** Whether nobody else would gain from waiting for a shared commit. */
  readonly alone: () => boolean;
  /** Told of every unit once it is durable. */
  readonly onCommitted: (record: RunRecord, entries: readonly JournalRow[], transition: Transition | undefined) => void;
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
  #inboxSeq: number;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#inboxSeq = options.record.inboxSeq;
    this.#leaseEndsAt = 0;
    this.renewed();
  }

  get run(): number {
    return this.#options.record.run;
  }

  get epoch(): number {
    return this.#options.record.epoch;
  }

  get handlersRunning(): boolean {
    return this.#context?.handlersRunning ?? false;
  }

  /** @throws whatever made it impossible to go on: a storage that fails, a fault of the interpreter. */
  async drive(): Promise<DriveEnd> {
    const { settings, record, plan } = this.#options;
    const { clock, handlers, logger, secrets, maxPayloadBytes, abortGraceMs, onOperation } = settings;
    const context = new JournalContext({
      meta: {
        id: record.id,
        key: record.key,
        workflow: record.workflow,
        revision: record.revision,
        hash: record.definitionHash,
        startedAt: record.startedAt ?? clock.now(),
        input: JSON.parse(record.input) as JsonObject,
      },
      journal: await this.#readJournal(),
      writer: {
        commit: (entries, transition) => this.#commit(entries, transition),
        secureLease: () => this.#secureLease(),
      },
      clock,
      abortGraceMs,
      ...(onOperation && { onOperation: (operation: string) => onOperation(record.id, operation) }),
    });
    this.#context = context;
    if (this.#stopping) context.stop();
    try {
      const outcome = await execute(context, { plan, handlers, clock, logger, secret: secrets, maxPayloadBytes });
      await context.end(outcome);
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

  async #readJournal(): Promise<JournalRow[]> {
    const rows: JournalRow[] = [];
    for (;;) {
      const page = await this.#options.settings.storage.readJournal(this.run, rows.at(-1)?.seq ?? 0, journalPage);
      rows.push(...page);
      if (page.length < journalPage) return rows;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #commit(entries: readonly JournalRow[], transition?: Transition): Promise<void> {
    const { settings, owner, record, alone, onCommitted } = this.#options;
    if (entries.length === 0 && transition === undefined) return;
    for (;;) {
      const unit = {
        run: record.run,
        owner,
        epoch: record.epoch,
        entries,
        ...(transition && { transition, inboxSeq: this.#inboxSeq }),
      };
      const [result] = await settings.storage.commitUnits([unit], { alone: alone() });
      if (result === 'lease-lost') throw leaseLost(record);
      if (result === 'committed') break;
      // Somebody wrote to the inbox since it was read. No message moves a run yet, so it is only noted.
      const messages = await settings.storage.readInbox(record.run, this.#inboxSeq);
      this.#inboxSeq = messages.at(-1)?.seq ?? this.#inboxSeq;
    }
    onCommitted(record, entries, transition);
  }

  /** A handler must not begin where its effects could not be recorded before another engine repeats them. */
  async #secureLease(): Promise<void> {
    const { settings, owner, record } = this.#options;
    const leftMs = this.#leaseEndsAt - settings.clock.monotonic();
    if (leftMs >= settings.runLeaseDurationMs / 3) return;
    const expiresAt = settings.clock.now() + settings.runLeaseDurationMs;
    const lost = await settings.storage.renewLeases(owner, [{ run: record.run, epoch: record.epoch }], expiresAt);
    if (lost.length > 0) throw leaseLost(record);
    this.renewed();
  }
}

function leaseLost(record: RunRecord): RunsheetError {
  return new RunsheetError('RS_LEASE_LOST', `${record.id} is driven by another engine by now`);
}
