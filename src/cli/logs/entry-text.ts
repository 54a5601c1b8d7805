import { type Item, formulaText } from '../../definition/index.js';
import type { EntryKind } from '../../engine/index.js';
import { type DescribedError, type JsonValue, errorText } from '../../common/index.js';
import type { JournalRow } from '../../storage/index.js';
import { durationText, oneLine, shortJson, timeText } from '../text.js';

/** How an entry is to be read at a glance. */
export type Tone = 'plain' | 'quiet' | 'good' | 'bad' | 'attention';

export interface EntryText {
  readonly text: string;
  readonly tone: Tone;
}

/** What one entry of a journal says, in plain words. */
export function entryText(row: JournalRow, item: Item | undefined): EntryText {
  const { aspect, at } = row;
  const read = JSON.parse(row.payload ?? '{}') as Payload;
  const attempt = attemptOf(aspect);
  switch (row.kind as EntryKind) {
    case 'run-started':
      return plain('the run starts');
    case 'taken-over':
      return plain(`goes on from what ${read.run} had done`);
    case 'step-started':
      return plain(
        read.restart === true ? `attempt ${attempt} starts again after an interruption` : `attempt ${attempt} starts`,
      );
    case 'step-completed':
      return good(`completed${valueText(read.value)}`);
    case 'step-failed':
      return bad(attempt === '' ? `failed${failureText(read)}` : `attempt ${attempt} failed${failureText(read)}`);
    case 'step-retrying': {
      const due = typeof read.value === 'number' ? read.value : at;
      return attention(`tries again in ${durationText(Math.max(0, due - at))}, at ${timeText(due)}`);
    }
    case 'step-skipped':
      return quiet('skipped');
    case 'decision':
      return read.error === undefined
        ? decisionText(row, read.value, item)
        : bad(`${decisionWords[aspect ?? ''] ?? aspect ?? 'a value'} cannot be told${failureText(read)}`);
    case 'timer-fired':
      return timerText(read.why, aspect, item);
    case 'signal-consumed':
      return good(`got the signal${valueText(read.payload)}`);
    case 'signal-rejected':
      return attention(`turned a signal down: it does not pass the filter${failureText(read)}`);
    case 'cancel-requested':
      return attention(`told to cancel${read.reason ? `: ${oneLine(read.reason)}` : ''}${withoutUndo(read)}`);
    case 'child-started':
      return plain(`starts ${read.run} of ${read.workflow}`);
    case 'child-cancelled':
      return attention(`tells its run to cancel${withoutUndo(read)}`);
    case 'child-settled':
      return read.status === 'completed'
        ? good(`its run has completed${valueText(read.output)}`)
        : bad(`its run is ${read.status}${failureText(read)}`);
    case 'child-unwind':
      return attention('has its run undone');
    case 'child-unwound':
      if (read.result === 'stuck') return bad('its run cannot be undone');
      if (read.result === 'not-applicable') return quiet('nothing of its run is to be undone');
      return attention(read.result === 'kept' ? 'its run stays as it is' : 'its run is undone');
    case 'pivot':
      return attention('point of no return: nothing of the run is undone any more');
    case 'compensation-started':
      return attention(`undoing, attempt ${attempt}${read.restart === true ? ' again after an interruption' : ''}`);
    case 'compensation-completed':
      return attention(`undone${valueText(read.value)}`);
    case 'compensation-failed':
      return bad(`undoing, attempt ${attempt} failed${failureText(read)}`);
    case 'compensation-skipped':
      return attention(`not undone${read.why === undefined ? '' : `: ${oneLine(read.why)}`}`);
    case 'compensation-stuck':
      return bad(`cannot be undone${failureText(read)}; waits for an operator`);
    case 'operator-decided':
      return attention(`an operator says: ${read.verdict}`);
    case 'unwind-ended':
      return attention(`undoing is over: ${read.status}`);
    case 'body-failed':
      return bad(`${aspect} failed${failureText(read)}`);
    case 'scope-ended':
      return scopeText(row, read.error);
    case 'scope-aborted':
      return attention(`what is in it ends early: ${oneLine(String(read.cause))}`);
    case 'run-outcome':
      return outcomeText(read);
    case 'run-ended':
      return quiet('the run has ended');
  }
}

/** What entries hold, each some of it. */
interface Payload {
  readonly value?: JsonValue;
  readonly error?: DescribedError | string;
  readonly restart?: boolean;
  readonly run?: string;
  readonly workflow?: string;
  readonly status?: string;
  readonly output?: JsonValue;
  readonly payload?: JsonValue;
  readonly why?: string;
  readonly reason?: string | null;
  readonly compensate?: boolean;
  readonly result?: 'undone' | 'not-applicable' | 'kept' | 'stuck';
  readonly verdict?: string;
  readonly cause?: string;
}

/** `2` of `2`, and of `compensate.2`. */
function attemptOf(aspect: string | null): string {
  return /(?:^|\.)(\d+)$/.exec(aspect ?? '')?.[1] ?? '';
}

const decisionWords: Readonly<Record<string, string>> = {
  when: 'whether it runs',
  arm: 'the arm',
  list: 'the list',
  condition: 'the condition',
  until: 'the time',
  gate: 'the time limit',
  value: 'the value',
  message: 'the message',
  details: 'the details',
  child: 'the input of its run',
  output: 'the output',
};

function decisionText(row: JournalRow, value: JsonValue | undefined, item: Item | undefined): EntryText {
  const aspect = row.aspect ?? '';
  switch (aspect) {
    case 'when':
      return quiet(value === true ? 'is to run' : 'is not to run');
    case 'arm':
      return plain(`takes ${armText(value, item)}`);
    case 'list':
      return plain(
        Array.isArray(value) ? `${value.length} ${value.length === 1 ? 'turn' : 'turns'} to come` : 'no list',
      );
    case 'condition': {
      const goesOn = item !== undefined && 'doUntil' in item ? value === false : value === true;
      return quiet(goesOn ? `${turnOf(row)} is to come` : 'no further turn');
    }
    case 'until':
      return plain(`sleeps until ${momentText(value)}`);
    case 'gate': {
      const { deadline } = (value ?? {}) as { deadline?: number };
      const signal = item !== undefined && 'waitFor' in item ? item.waitFor : 'a signal';
      return plain(
        `waits for ${signal}${deadline === undefined ? ', without a limit' : ` until ${momentText(deadline)}`}`,
      );
    }
    case 'onError':
      return typeof value === 'number'
        ? attention(`handles the error ${handlerText(value, item)}`)
        : quiet('no onError fits');
    case 'onTimeout':
      return attention(`goes on without an answer${valueText(value)}`);
    case 'deadline':
      return quiet(`has until ${momentText(value)}`);
    case 'child': {
      const { revision } = (value ?? {}) as { revision?: number };
      return quiet(`its run is to be of revision ${revision}`);
    }
    case 'reminder':
      return quiet(`reminder ${Number(value) + 1} is to go out`);
    case 'output':
      return quiet(`the output is settled${valueText(value)}`);
    case 'message':
    case 'details':
      return quiet(`${aspect}${valueText(value)}`);
    case 'value':
      return good(`its value is settled${valueText(value)}`);
    default:
      if (aspect.startsWith('retry.')) return quiet(value === true ? 'may be tried again' : 'is not to be tried again');
      if (aspect.startsWith('first-start.')) return quiet(`its time counts from ${momentText(value)}`);
      return quiet(`${aspect}${valueText(value)}`);
  }
}

function armText(value: JsonValue | undefined, item: Item | undefined): string {
  const arm = item !== undefined && 'branch' in item ? item.branch[Number(value)] : undefined;
  if (arm === undefined) return `arm ${Number(value) + 1}`;
  if ('else' in arm) return 'the arm else';
  return `the arm ${arm.name ?? formulaText(arm.when)}`;
}

function handlerText(index: number, item: Item | undefined): string {
  const errors = item?.onError?.[index]?.errors;
  return errors === undefined ? `by entry ${index + 1} of onError` : `by onError ${errors.join(', ')}`;
}

function timerText(why: string | undefined, aspect: string | null, item: Item | undefined): EntryText {
  if (aspect === 'gate') {
    const signal = item !== undefined && 'waitFor' in item ? item.waitFor : 'the signal';
    return attention(`nobody sent ${signal} in time`);
  }
  switch (why) {
    case 'sleep':
      return plain('wakes up');
    case 'back-off':
      return quiet('it is time to try again');
    case 'reminder':
      return quiet('a reminder is due');
    case 'run-deadline':
      return bad('the time of the run is up');
    default:
      return bad('its time is up');
  }
}

/** Of a loop: `turn 2`, from 0 as the names of items in it count. */
function turnOf({ occurrence }: JournalRow): string {
  return `turn ${occurrence?.split('.').at(-1)}`;
}

function scopeText(row: JournalRow, error: Payload['error']): EntryText {
  const name = row.aspect === 'turn' ? turnOf(row) : `branch ${row.aspect}`;
  if (error === undefined) return quiet(`${name} has ended`);
  return bad(`${name} failed: ${typeof error === 'string' ? error : error.name}`);
}

function outcomeText({ status, error }: Payload): EntryText {
  if (status === 'completed') return good('the run completes');
  if (status === 'cancelled') return attention(`the run is cancelled${failureText({ error })}`);
  return bad(`the run fails${failureText({ error })}`);
}

function withoutUndo({ compensate }: Payload): string {
  return compensate === false ? ', without undoing' : '';
}

function failureText({ error }: { readonly error?: Payload['error'] | undefined }): string {
  if (error === undefined) return '';
  return typeof error === 'string' ? `: ${error}` : `: ${errorText(error)}`;
}

function valueText(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : `: ${oneLine(shortJson(value, 100))}`;
}

function momentText(value: JsonValue | undefined): string {
  return typeof value === 'number' ? timeText(value) : 'never';
}

const plain = (text: string): EntryText => ({ text, tone: 'plain' });
const quiet = (text: string): EntryText => ({ text, tone: 'quiet' });
const good = (text: string): EntryText => ({ text, tone: 'good' });
const bad = (text: string): EntryText => ({ text, tone: 'bad' });
const attention = (text: string): EntryText => ({ text, tone: 'attention' });
