import type { JournalRow } from '../storage/index.js';
import type { EntryKind } from './entries.js';
import type { FlowPlaces } from './flow-places.js';

/**
 * What the journal tells of an item, in one turn of the loops around it, beside the calls and waits that are steps:
 * that it was reached, which way it went, how far a loop has come.
 */
export interface BlockHistory {
  /** Key of the item. */
  readonly step: string;
  readonly occurrence: string;
  /** Of the first entry about it. */
  readonly reachedAt: number;
  /** Index of the arm that a `branch` took. */
  readonly arm?: number;
  /** Index of the entry of `onError` that handled its failure. */
  readonly handledBy?: number;
  /** When the time of the block is up. */
  readonly deadline?: number;
  /** Of a loop. */
  readonly turns?: TurnCounts;
}

export interface TurnCounts {
  readonly begun: number;
  readonly ended: number;
  readonly failed: number;
  /** Known of a `forEach`, whose list is known before its first turn. */
  readonly total: number | null;
}

type Growing = { -readonly [Key in keyof BlockHistory]: BlockHistory[Key] };

/** Grows with the journal that it is told, entry by entry. */
export class BlockHistories {
  readonly #flow: FlowPlaces;
  readonly #blocks = new Map<string, Growing>();

  constructor(flow: FlowPlaces) {
    this.#flow = flow;
  }

  /** In the order in which they were reached. */
  get all(): BlockHistory[] {
    return [...this.#blocks.values()];
  }

  add(row: JournalRow): void {
    const { step, occurrence, aspect } = row;
    if (step === null) return;
    const own = occurrence ?? '0';
    switch (row.kind as EntryKind) {
      case 'decision':
        return this.#decide({ ...row, step }, own);
      case 'pivot':
      case 'step-skipped':
        this.#at(step, own, row.at);
        return;
      case 'scope-ended': {
        if (aspect !== 'turn') return;
        const loop = this.#at(step, turnAround(own), row.at);
        const { begun = 0, ended = 0, failed = 0, total = null } = loop.turns ?? {};
        const { error } = JSON.parse(row.payload ?? '{}') as { error?: string };
        loop.turns = { begun, ended: ended + 1, failed: failed + (error === undefined ? 0 : 1), total };
        return;
      }
      default:
        return;
    }
  }

  #decide({ step, at, aspect, payload }: JournalRow & { readonly step: string }, occurrence: string): void {
    if (aspect === 'condition') return this.#turn(step, turnAround(occurrence), at, payload);
    const block = this.#at(step, occurrence, at);
    switch (aspect) {
      case 'arm': {
        const arm = valueOf(payload);
        if (typeof arm === 'number') block.arm = arm;
        return;
      }
      case 'onError': {
        const entry = valueOf(payload);
        if (typeof entry === 'number') block.handledBy = entry;
        return;
      }
      case 'deadline': {
        const deadline = valueOf(payload);
        if (typeof deadline === 'number') block.deadline = deadline;
        return;
      }
      case 'list': {
        const list = valueOf(payload);
        if (Array.isArray(list)) block.turns = { begun: 0, ended: 0, failed: 0, total: list.length };
      }
    }
  }

  /** `doWhile` asks before each turn, `doUntil` after it. */
  #turn(step: string, occurrence: string, at: number, payload: string | null): void {
    const loop = this.#at(step, occurrence, at);
    const answer = valueOf(payload);
    const item = this.#flow.item(step);
    const { begun = 0, ended = 0 } = loop.turns ?? {};
    const turns =
      item !== undefined && 'doUntil' in item
        ? { begun: ended + (answer === false ? 2 : 1), ended: ended + 1 }
        : { begun: begun + (answer === true ? 1 : 0), ended: begun };
    loop.turns = { ...turns, failed: 0, total: null };
  }

  #at(step: string, occurrence: string, at: number): Growing {
    const place = `${step}\n${occurrence}`;
    const known = this.#blocks.get(place);
    if (known !== undefined) return known;
    const block: Growing = { step, occurrence, reachedAt: at };
    this.#blocks.set(place, block);
    return block;
  }
}

/** Where a loop stands, one of whose turns this is: `3.1` is the second turn of a loop in the fourth turn of another. */
export function turnAround(turn: string): string {
  const end = turn.lastIndexOf('.');
  return end === -1 ? '0' : turn.slice(0, end);
}

function valueOf(payload: string | null): unknown {
  return (JSON.parse(payload ?? '{}') as { value?: unknown }).value;
}
