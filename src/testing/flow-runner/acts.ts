import { type ErrorCode, RunsheetError, durationText, parseDuration } from '../../common/index.js';
import type { JournalRow, RunRecord } from '../../storage/index.js';
import type { Path } from '../../syntax/index.js';
import type { ItemPlaces } from '../world/item-places.js';
import type { World } from '../world/world.js';
import { type Cancel, type CrashAt, type Decision, type Resume, type Signal, parseChild } from '../flow-tests/index.js';
import type { TestFailure } from './failure.js';
import type { TestCase, Written } from './test-case.js';
import { TurnWatch, placeIn } from './turn-watch.js';

/** Something that is done to a run from outside, and when. */
export type Act =
  | ({ readonly kind: 'signal' } & Written<Signal>)
  | ({ readonly kind: 'cancel' } & Written<Cancel>)
  | ({ readonly kind: 'resume' } & Written<Resume>)
  | ({ readonly kind: 'decision' } & Written<Decision>)
  | ({ readonly kind: 'crash' } & Written<CrashAt>);

/** How a refusal is called in flow tests, by the code of its error. */
const refusals: Partial<Record<ErrorCode, string>> = {
  RS_INPUT_INVALID: 'ValidationError',
  RS_SIGNAL_INVALID: 'ValidationError',
  RS_SIGNAL_UNKNOWN: 'UnknownSignal',
  RS_SIGNAL_ALREADY_DELIVERED: 'SignalAlreadyDelivered',
  RS_SIGNAL_TOO_LATE: 'SignalTooLate',
  RS_RUN_ENDED: 'RunEnded',
  RS_RUN_ENDING: 'RunAlreadyEnding',
  RS_RUN_NOT_RESUMABLE: 'RunNotResumable',
  RS_RUN_NOT_STUCK: 'RunNotStuck',
};

export function refusalName({ code }: RunsheetError): string {
  return refusals[code] ?? code;
}

interface OpenAct {
  readonly act: Act;
  /** Epoch milliseconds; undefined until the item that it comes after is over. */
  at: number | undefined;
  readonly watch: TurnWatch | undefined;
}

/** What a test does to its run from outside: each thing once, when its time has come. */
export class Acts {
  readonly #open: OpenAct[];
  readonly failures: TestFailure[] = [];
  readonly #onCrash: (point: Written<CrashAt>) => void;

  /** @param onCrash lets the process die as the test says */
  constructor(
    { signals, cancel, resume, decisions, crash }: TestCase,
    places: ItemPlaces,
    startedAt: number,
    onCrash: (point: Written<CrashAt>) => void,
  ) {
    this.#onCrash = onCrash;
    const acts: Act[] = [
      ...signals.map((signal) => ({ kind: 'signal' as const, ...signal })),
      ...(cancel === undefined ? [] : [{ kind: 'cancel' as const, ...cancel }]),
      ...(resume === undefined ? [] : [{ kind: 'resume' as const, ...resume }]),
      ...decisions.map((decision) => ({ kind: 'decision' as const, ...decision })),
      ...(crash === 'every' ? [] : crash).flatMap((point) =>
        'at' in point.what && point.what.at !== undefined
          ? [{ kind: 'crash' as const, what: point.what, path: point.path }]
          : [],
      ),
    ];
    this.#open = acts.map((act) => {
      const { what } = act;
      return 'at' in what && what.at !== undefined
        ? { act, at: startedAt + parseDuration(what.at), watch: undefined }
        : { act, at: undefined, watch: new TurnWatch(placeIn((what as { after: string }).after), places) };
    });
  }

  /** Entries of the run under test were written at this time. */
  look(entries: readonly JournalRow[], now: number): void {
    for (const open of this.#open) {
      if (open.watch === undefined || open.at !== undefined) continue;
      if (entries.some((row) => open.watch?.ends(row))) open.at = now;
    }
  }

  /** The earliest time at which something is to be done; of a run that has ended only what it may yet refuse. */
  nextAt(ended: boolean): number | undefined {
    const times = this.#open.filter(({ act }) => !ended || concernsEnded(act)).flatMap(({ at }) => at ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Takes the first of those whose time has come. */
  takeDue(now: number, ended: boolean): Act | undefined {
    const due = this.#open
      .filter(({ act, at }) => at !== undefined && at <= now && (!ended || concernsEnded(act)))
      .sort((a, b) => Number(a.at) - Number(b.at))[0];
    if (due !== undefined) this.#open.splice(this.#open.indexOf(due), 1);
    return due?.act;
  }

  /** @returns the id of the run that took over, where one was resumed */
  async perform(act: Act, world: World, run: string): Promise<string | undefined> {
    if (act.kind === 'crash') {
      this.#onCrash(act);
      return undefined;
    }
    const { refused } = act.what;
    try {
      const resumed = await carryOut(act, world, run);
      if (refused !== undefined) {
        this.#report([...act.path, 'refused'], `${nameOf(act)} was to be refused with ${refused}, but it was not`);
      }
      return resumed;
    } catch (error) {
      if (!(error instanceof RunsheetError)) throw error;
      const name = refusalName(error);
      if (name === refused) return undefined;
      const message = `${nameOf(act)} was refused with ${name}: ${error.message.replaceAll(run, 'the run')}`;
      if (refused === undefined) this.#report(act.path, message);
      else this.failures.push({ path: [...act.path, 'refused'], message, diff: [`- ${refused}`, `+ ${name}`] });
      return undefined;
    }
  }

  /** What was never done; of defaults, which are shared by tests of all kinds, nothing is said. */
  reportLeft(status: string, world: World): void {
    for (const { act, at } of this.#open) {
      if (act.path[0] === 'defaults') continue;
      const after = (act.what as { after?: string }).after;
      const why =
        at === undefined
          ? `${after} was never over`
          : `by then the run was ${status} (after ${durationText(world.clock.now() - world.startedAt)})`;
      const when = after === undefined ? `at ${(act.what as { at: string }).at}` : `after ${after}`;
      this.#report(act.path, `${nameOf(act)} was to come ${when}, but ${why}`);
    }
  }

  #report(path: Path, message: string): void {
    this.failures.push({ path, message });
  }
}

/** What is done to a run that has ended is refused: only who expects that, or resumes it, still does it. */
function concernsEnded({ kind, what }: Act): boolean {
  return kind === 'resume' || ('refused' in what && what.refused !== undefined);
}

function nameOf(act: Act): string {
  switch (act.kind) {
    case 'signal':
      return `the signal ${act.what.name}`;
    case 'cancel':
      return 'the cancellation';
    case 'crash':
      return 'the death of the process';
    case 'resume':
      return 'the resumption';
    case 'decision':
      return `the decision to ${act.what.decide}`;
  }
}

async function carryOut(act: Exclude<Act, { kind: 'crash' }>, world: World, run: string): Promise<string | undefined> {
  switch (act.kind) {
    case 'signal':
      await sendSignal(act.what, world, run);
      return undefined;
    case 'cancel':
      await world.cancel(run, { compensate: act.what.compensate ?? true });
      return undefined;
    case 'resume':
      return (await world.desk.resume(run)).id;
    case 'decision':
      await (act.what.decide === 'resume' ? world.desk.resumeCompensation(run) : world.desk.abandonCompensation(run));
      return undefined;
  }
}

/** To the only child that is meant and has not ended; of those that have, to the last one, which refuses it. */
async function sendSignal({ name, payload = null, to }: Signal, world: World, run: string): Promise<void> {
  if (to === undefined) return world.desk.signal(run, name, payload);
  const among = await descendants(world, run);
  const meant = childrenMeant(to, among, run);
  const open = meant.filter(({ endedAt }) => endedAt === null);
  const child = open[0] ?? meant.at(-1);
  if (child === undefined) throw new RunsheetError('RS_RUN_UNKNOWN', `no child \`${to}\` has begun by then`);
  if (open.length > 1) {
    const names = open.map((each) => `\`${childText(each, among, run)}\``).join(', ');
    const message = `\`to: ${to}\` means ${open.length} children that are under way (${names}): name one`;
    throw new RunsheetError('RS_OPTIONS_INVALID', message);
  }
  return world.desk.signal(child.id, name, payload);
}

/**
 * The children of a run that a test names, generation by generation: those of the step; where there is no such step,
 * those of the workflow, at any depth.
 *
 * @param among descendants of the run
 */
export function childrenMeant(text: string, among: readonly RunRecord[], run: string): RunRecord[] {
  let parents = new Set([run]);
  let meant: RunRecord[] = [];
  for (const { name, occurrence } of parseChild(text) ?? []) {
    const isTurn = ({ parentOccurrence }: RunRecord): boolean =>
      occurrence === undefined || occurrence === (parentOccurrence ?? '0');
    const inside = within(among, parents);
    const ofStep = inside.filter(
      (each) => parents.has(each.parentId ?? '') && each.parentStep === name && isTurn(each),
    );
    meant = ofStep.length > 0 ? ofStep : inside.filter((each) => each.workflow === name && isTurn(each));
    parents = new Set(meant.map(({ id }) => id));
  }
  return meant;
}

/** The descendants of some runs; `records` has parents before their children. */
export function within(records: readonly RunRecord[], runs: ReadonlySet<string>): RunRecord[] {
  const inside = new Set(runs);
  return records.filter(({ id, parentId }) => parentId !== null && inside.has(parentId) && inside.add(id).size > 0);
}

/** As a test names it from the run on: `book#0/print#0`. */
export function childText(child: RunRecord, among: readonly RunRecord[], run: string): string {
  const own = `${child.parentStep ?? ''}#${child.parentOccurrence ?? '0'}`;
  const parent = child.parentId === run ? undefined : among.find(({ id }) => id === child.parentId);
  return parent === undefined ? own : `${childText(parent, among, run)}/${own}`;
}

export async function descendants(world: World, run: string): Promise<RunRecord[]> {
  const children = await world.storage.listChildren(run);
  const deeper = await Promise.all(children.map(({ id }) => descendants(world, id)));
  return [...children, ...deeper.flat()];
}
