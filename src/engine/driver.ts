import { type JsonObject, RunsheetError } from '../common/index.js';
import { type Children, type Plan, execute } from '../interpreter/index.js';
import type { InboxMessage, JournalRow, Lease, RunRecord } from '../storage/index.js';
import type { DrivenRun } from './driven-run.js';
import { readTakenOver } from './entries.js';
import { givenUpAfter } from './interruptions.js';
import { JournalContext, WalkSuspended } from './journal-context.js';
import type { EngineSettings } from './options.js';

/** How a drive ended: the run is over, waits, was handed back, is another engine's, or was not begun at all. */
export type DriveEnd = 'ended' | 'parked' | 'stopped' | 'lost' | 'not-begun';

export interface DriverOptions {
  readonly settings: EngineSettings;
  readonly run: DrivenRun;
  readonly plan: Plan;
  readonly children: Children;
}

/** Pages of this size are read on resume, with a turn of the event loop between them. */
const journalPage = 500;

/** Drives one leased run until it ends, waits, or is taken away. */
export class Driver {
  readonly #options: DriverOptions;
  #context: JournalContext | undefined;
  #stopping = false;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  get id(): string {
    return this.#options.run.about.id;
  }

  /** Undefined where the run is not in the storage yet. */
  get lease(): Lease | undefined {
    return this.#options.run.lease;
  }

  get interruptions(): number {
    return this.#options.run.record?.interruptions ?? 0;
  }

  /** Resolves when it is known whether the run is in the storage: at once, unless that is being found out. */
  settled(): Promise<void> {
    return this.#options.run.settled();
  }

  get handlersRunning(): boolean {
    return this.#context?.handlersRunning ?? false;
  }

  /** @throws whatever made it impossible to go on: a storage that fails, a fault of the interpreter. */
  async drive(): Promise<DriveEnd> {
    const { settings, run, plan, children } = this.#options;
    const { clock, handlers, logger, secrets, maxPayloadBytes, abortGraceMs, onOperation } = settings;
    const { record } = run;
    const journal = record === undefined || run.isNew ? [] : await this.#readJournal(record.run);
    const over = readTakenOver(journal);
    const { id, key, workflow, revision, definitionHash, input } = run.about;
    const context = new JournalContext({
      meta: {
        id,
        key,
        workflow,
        revision,
        hash: definitionHash,
        startedAt: run.startedAt,
        input: JSON.parse(input) as JsonObject,
        keyPrefix: over?.keyPrefix ?? id,
        handledAnew: new Map(
          (over?.handledAnew ?? []).map(({ step, occurrence, keyPrefix }) => [`${step}#${occurrence}`, keyPrefix]),
        ),
        reopened: record?.status === 'compensating' && journal.some(isCompletedOutcome),
      },
      parent: record?.parentId ?? null,
      journal,
      inboxSeq: record?.inboxSeq ?? 0,
      writer: {
        commit: (unit, transition, inboxSeq) => run.commit(unit, transition, inboxSeq),
        secureLease: () => run.secureLease(),
        readInbox: (afterSeq) => this.#readInbox(afterSeq),
        readRun: (id) => settings.storage.getRun(id),
        hasPivot: (record) => this.#hasPivot(record),
      },
      clock,
      givenUp: this.interruptions >= givenUpAfter,
      abortGraceMs,
      ...(onOperation && { onOperation: (operation: string) => onOperation(id, operation) }),
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
      // Given up while it was being begun, it may have come to be there all the same.
      await run.settled();
    }
  }

  /** The engine has just extended the lease. */
  renewed(): void {
    this.#options.run.renewed();
  }

  /** Another engine has the run. */
  lost(): void {
    const { run } = this.#options;
    run.lost();
    this.#context?.fence(run.leaseLost());
  }

  /** There may be something new in the run's inbox. */
  inboxChanged(): void {
    this.#context?.inboxChanged();
  }

  /** Others could move the run on while it is driven, beside cancelling it. */
  get waitsForOthers(): boolean {
    return this.#context?.waitsForOthers ?? false;
  }

  /** Nothing is being computed, read or written for the run. */
  get isAtRest(): boolean {
    return this.#context?.isAtRest ?? false;
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
    this.#options.run.giveUp();
    this.#context?.fence(new WalkSuspended('stopped'));
  }

  /** Nobody can have sent anything to a run that is not in the storage yet. */
  async #readInbox(afterSeq: number): Promise<readonly InboxMessage[]> {
    const { run, settings } = this.#options;
    await run.settled();
    return run.record === undefined ? [] : settings.storage.readInbox(run.record.run, afterSeq);
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
}

function isCompletedOutcome({ kind, payload }: JournalRow): boolean {
  return kind === 'run-outcome' && (JSON.parse(payload ?? '{}') as { status: string }).status === 'completed';
}
