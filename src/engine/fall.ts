import type { Place } from '../interpreter/index.js';
import type { JournalRow } from '../storage/index.js';
import type { EntryKind } from './entries.js';
import type { FlowPlaces, Turn } from './flow-places.js';

/**
 * Where a run fell: what a resume takes back of its journal. That is what has failed and was handled by nothing around it,
 * what was under way in a scope which that failure ended, and what hangs on either. All else stays, failures that were
 * handled included, so that the new run's walk is the old one's up to here.
 */
export class Fall {
  /** Up to the outcome of the run, ascending. */
  readonly journal: readonly JournalRow[];
  readonly #flow: FlowPlaces;
  /** Decisions that could not be made. */
  readonly #undecided: ReadonlySet<string>;
  /** Items that the failure went through on its way up. */
  readonly #through = new Set<string>();
  /** Items that begin anew: those that failed, and those that were under way in what the failure ended. */
  readonly #anew = new Set<string>();
  /** Those, and the items around them: the time of a block among them is reckoned anew. */
  readonly #open = new Set<string>();

  constructor(origins: readonly Place[], journal: readonly JournalRow[], flow: FlowPlaces) {
    this.journal = journal;
    this.#flow = flow;
    this.#undecided = new Set(origins.map(({ step, occurrence, aspect }) => `${step}#${occurrence} ${aspect}`));
    for (const { step, occurrence } of origins) {
      if (step === null) continue;
      const own = flow.turnOf({ step, occurrence });
      for (const item of [own, ...bodiesAround(flow, own)]) this.#through.add(textOf(item));
      this.#beginAnew(own);
    }
    for (const cut of this.#cutShort()) this.#beginAnew(cut);
  }

  takesBack(row: JournalRow): boolean {
    const { kind, step, aspect } = row;
    if (step === null) return true;
    const turn = { step, occurrence: row.occurrence ?? '0' };
    const place = textOf(turn);
    if (this.isInVain(turn) || this.#isReminderAnew(turn)) return true;
    switch (kind as EntryKind) {
      case 'decision':
        return this.#takesBackDecision(place, row);
      case 'timer-fired':
        if (aspect === 'deadline') return this.#open.has(place);
        return aspect !== 'until' && this.#anew.has(place);
      case 'step-started':
        // A step that was called keeps its input, under attempt 1: its failed attempts are forgotten.
        return aspect !== '1' && this.#anew.has(place);
      case 'step-failed':
      case 'step-retrying':
      case 'child-started':
      case 'child-cancelled':
      case 'child-settled':
      case 'child-unwind':
      case 'child-unwound':
        return this.#anew.has(place);
      case 'scope-aborted':
        return this.#through.has(place);
      case 'scope-ended':
        return isError(row) && this.#through.has(textOf(this.#flow.turnOf(turn)));
      case 'signal-rejected':
        // By the number of a message in the old run's inbox.
        return true;
      default:
        return false;
    }
  }

  /** Whether the failure went through an item on its way up. */
  isThrough(turn: Turn): boolean {
    return this.#through.has(textOf(turn));
  }

  /** In an `onError` that let the failure go on. */
  isInVain(turn: Turn): boolean {
    return this.#flow.around(turn).some((outer) => outer.inOnError && this.isThrough(outer));
  }

  #isReminderAnew(turn: Turn): boolean {
    const [gate] = this.#flow.around(turn);
    return this.#flow.item(turn.step) === undefined && gate !== undefined && this.#anew.has(textOf(gate));
  }

  #takesBackDecision(place: string, row: JournalRow): boolean {
    const { aspect } = row;
    switch (aspect) {
      case 'onError':
        return this.#through.has(place);
      case 'deadline':
        return this.#open.has(place);
      case 'gate':
      case 'onTimeout':
        return this.#anew.has(place);
      default:
        if (aspect !== null && ofAttempts.test(aspect)) return this.#anew.has(place);
        return isError(row) && this.#undecided.has(`${place} ${aspect}`);
    }
  }

  #beginAnew(turn: Turn): void {
    this.#anew.add(textOf(turn));
    for (const item of [turn, ...bodiesAround(this.#flow, turn)]) this.#open.add(textOf(item));
  }

  /** What was under way when the failure ended a scope around it, and did not succeed all the same. */
  #cutShort(): Iterable<Turn> {
    const underWay = new Map<string, Turn>();
    const cut = new Map<string, Turn>();
    for (const row of this.journal) {
      const { step, kind, aspect } = row;
      // The run itself was ended from outside.
      if (step === null && kind === 'scope-aborted') for (const [open, each] of underWay) cut.set(open, each);
      if (step === null) continue;
      const turn = { step, occurrence: row.occurrence ?? '0' };
      const place = textOf(turn);
      switch (kind as EntryKind) {
        case 'step-started':
        case 'step-retrying':
        case 'child-started':
          underWay.set(place, turn);
          break;
        case 'decision':
          if (aspect === 'gate' && !isError(row)) underWay.set(place, turn);
          break;
        case 'step-completed':
        case 'signal-consumed':
          underWay.delete(place);
          cut.delete(place);
          break;
        case 'child-settled':
          underWay.delete(place);
          if (childCompleted(row)) cut.delete(place);
          break;
        case 'step-failed':
          underWay.delete(place);
          break;
        case 'timer-fired':
          if (aspect === 'gate' || aspect === 'child') underWay.delete(place);
          break;
        case 'scope-aborted':
          if (!this.#through.has(place)) break;
          for (const [open, each] of underWay) if (this.#flow.ends(row, each)) cut.set(open, each);
      }
    }
    return cut.values();
  }
}

/** Decisions about whether there is another attempt. */
const ofAttempts = /^(retry|late|first-start)\./;

/** The items whose body, not whose `onError`, this is in. */
function bodiesAround(flow: FlowPlaces, turn: Turn): Turn[] {
  return flow.around(turn).filter(({ inOnError }) => !inOnError);
}

function childCompleted({ payload }: JournalRow): boolean {
  return (JSON.parse(payload ?? '{}') as { status: string }).status === 'completed';
}

function isError({ payload }: JournalRow): boolean {
  return payload?.startsWith('{"error":') === true;
}

function textOf({ step, occurrence }: Turn): string {
  return `${step}#${occurrence}`;
}
