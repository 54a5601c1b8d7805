import { errorText } from '../../common/index.js';
import type { WorkflowDocument } from '../../definition/index.js';
import type { Run, RunHistory } from '../../engine/index.js';
import {
  type StateName,
  type TreeBody,
  type TreeItem,
  countsText,
  mostUrgent,
  sectionsOf,
  stateText,
  stateWords,
  treeOf,
} from '../run-tree/index.js';
import { durationText, oneLine, timeText } from '../text.js';
import type { States } from './build-graph.js';
import type { Label, NodeState } from './graph.js';
import { label } from './item-labels.js';

const unreached: NodeState = { name: 'not-reached', text: '' };

/** How a run of this flow went, for its graph. */
export function statesOf(document: WorkflowDocument, history: RunHistory, now: number): States {
  const tree = treeOf(document, history);
  const items = new Map<string, TreeItem>();
  const sections = new Map<string, TreeBody>();
  const collect = (body: TreeBody): void => {
    for (const item of body.items) {
      items.set(item.key, item);
      item.bodies.forEach(collect);
    }
  };
  for (const body of sectionsOf(tree)) {
    sections.set(String(body.path[0]), body);
    collect(body);
  }
  const { run } = history;
  return {
    facts: runFacts(run, now),
    summary: summaryOf(run, items),
    ofItem(key) {
      const item = items.get(key);
      return item === undefined ? unreached : { name: item.state, text: oneLine(stateText(item, now)) };
    },
    ofBody(key, path) {
      const place = path.join('\n');
      const body = items.get(key)?.bodies.find((each) => each.path.join('\n') === place);
      const text = path[0] === 'onError' ? 'handled the error' : '';
      return body?.reached === true ? { name: stateOfBody(body), text } : unreached;
    },
    ofSection(name) {
      const body = sections.get(name);
      if (body?.reached !== true) return unreached;
      return { name: name === 'steps' && run.error !== null ? 'failed' : stateOfBody(body), text: '' };
    },
    start: run.startedAt === null ? unreached : { name: 'completed', text: '' },
    end: endState(run),
  };
}

function stateOfBody({ items }: TreeBody): StateName {
  const state = mostUrgent(items.map((item) => item.state)) ?? 'completed';
  return state === 'skipped' || state === 'not-reached' ? 'completed' : state;
}

function endState({ status }: Run): NodeState {
  switch (status) {
    case 'completed':
    case 'failed':
      return { name: status, text: status };
    case 'cancelled':
      return { name: 'aborted', text: status };
    default:
      return unreached;
  }
}

function runFacts(run: Run, now: number): Label[] {
  const { id, key, status, rollbackStatus, startedAt, endedAt, error } = run;
  const rollback = rollbackStatus === null || rollbackStatus === 'not-applicable' ? '' : `, rollback ${rollbackStatus}`;
  const took = startedAt === null ? '' : ` after ${durationText((endedAt ?? now) - startedAt)}`;
  return [
    { text: key === null ? id : oneLine(`${id} (${key})`) },
    { text: `${status}${endedAt === null ? '' : took}${rollback}` },
    ...(startedAt === null ? [] : [{ text: `started ${timeText(startedAt)}` }]),
    ...(error === null ? [] : [label(errorText(error), 80)]),
  ];
}

function summaryOf(run: Run, items: ReadonlyMap<string, TreeItem>): string {
  const counts = new Map<StateName, number>();
  for (const { state } of items.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
  const unreachedCount = counts.get('not-reached') ?? 0;
  const reached = countsText(counts);
  return [
    `the run is ${run.status}`,
    ...(reached === '' ? [] : [reached]),
    ...(unreachedCount === 0 ? [] : [`${unreachedCount} ${stateWords['not-reached']}`]),
    ...(run.error === null ? [] : [`it failed with ${run.error.name}`]),
  ].join(', ');
}
