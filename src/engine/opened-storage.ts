import { RunsheetError } from '../common/index.js';
import { type Definition, definitionFromCanonical } from '../definition/index.js';
import type { InboxPost, RunRecord, Storage } from '../storage/index.js';
import type { EngineSettings } from './options.js';
import { type DefinitionRegistry, storeDefinition } from './registry.js';
import { schedulesOf } from './schedules.js';
import { useStorage } from './storage-users.js';

/** A run: its id, the key it was started with, or the run itself, which carries the types of its workflow. */
export type RunAddress<Workflow extends string = string> =
  string | { readonly workflow: Workflow; readonly key: string } | { readonly workflow: Workflow; readonly id: string };

/** The storage as an engine uses it: opened once, before the first use, with what the engine has to say to it. */
export class OpenedStorage {
  readonly storage: Storage;
  readonly #settings: EngineSettings;
  readonly #owner: string;
  readonly #registry: DefinitionRegistry;
  #opening: Promise<void> | undefined;
  #identity = '';

  constructor(settings: EngineSettings, owner: string, registry: DefinitionRegistry) {
    this.storage = settings.storage;
    this.#settings = settings;
    this.#owner = owner;
    this.#registry = registry;
  }

  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The next call tries again: what was in the way may pass.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** What the storage is called, once it is open (`Storage.readIdentity`). */
  get identity(): string {
    return this.#identity;
  }

  /** Undefined where nothing was opened, or opening has failed. */
  async settled(): Promise<Storage | undefined> {
    if (this.#opening === undefined) return undefined;
    return this.#opening.then(
      () => this.storage,
      () => undefined,
    );
  }

  /**
   * Keeps a definition beside its runs, with its limit and schedules.
   *
   * @throws RunsheetError `RS_DEFINITION_CONFLICT`, `RS_INPUT_INVALID` of a schedule
   */
  async store(definition: Definition): Promise<void> {
    const now = this.#settings.clock.now();
    const { name, revision, document } = definition;
    const schedules = await schedulesOf(definition, now);
    await storeDefinition(this.storage, definition, now);
    await this.storage.setWorkflowLimit(name, revision, document.concurrency ?? null);
    await this.storage.registerSchedules(name, revision, schedules, now);
  }

  /** @throws RunsheetError `RS_RUN_UNKNOWN` */
  async find(address: RunAddress): Promise<RunRecord> {
    await this.open();
    const id = typeof address === 'string' ? address : 'id' in address ? address.id : undefined;
    const record = id === undefined ? await this.#byKey(address) : await this.storage.getRun(id);
    if (record !== undefined) return record;
    const name =
      id ??
      (typeof address === 'object' && 'key' in address ? `of ${address.workflow} with the key ${address.key}` : '');
    throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${name}`);
  }

  /** Registered, or as it is stored with its runs. @throws RunsheetError `RS_DEFINITION_UNKNOWN` */
  async definitionOf({ definitionHash, id }: RunRecord): Promise<Definition> {
    const registered = this.#registry.get(definitionHash);
    if (registered !== undefined) return registered;
    const stored = await this.storage.readDefinition(definitionHash);
    if (stored !== undefined) return definitionFromCanonical(stored.document);
    throw new RunsheetError('RS_DEFINITION_UNKNOWN', `the definition ${definitionHash} of ${id} is not stored`);
  }

  /** @throws RunsheetError `RS_RUN_UNKNOWN`, `RS_RUN_ENDED`, or what the guard refuses it with */
  async post({ id }: RunRecord, post: Omit<InboxPost<RunsheetError>, 'now'>): Promise<void> {
    const now = (): number => this.#settings.clock.now();
    const result = await this.storage.postInbox<RunsheetError>(id, { ...post, now });
    switch (result.kind) {
      case 'posted':
        return;
      case 'refused':
        throw result.refusal;
      case 'unknown':
        throw new RunsheetError('RS_RUN_UNKNOWN', `there is no run ${id}`);
      case 'ended':
        throw new RunsheetError('RS_RUN_ENDED', `${id} has ended: it is ${result.run.status}`);
    }
  }

  async #byKey(address: RunAddress): Promise<RunRecord | undefined> {
    if (typeof address === 'string' || !('key' in address)) return undefined;
    return this.storage.getRunByKey(address.workflow, address.key);
  }

  async #open(): Promise<void> {
    useStorage(this.storage, this);
    await this.storage.open();
    this.#identity = await this.storage.readIdentity();
    await this.storage.registerEngine(this.#owner);
    for (const definition of this.#settings.definitions) await this.store(definition);
  }
}
