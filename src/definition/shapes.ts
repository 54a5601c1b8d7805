import type { Verb } from './verbs.js';

/** What may stand under a key, where one function can check it: no lists of items, no values with formulas inside. */
export type PlainKind =
  | 'text'
  | 'note'
  | 'workflow name'
  | 'id'
  | 'identifier'
  | 'handler'
  | 'signal'
  | 'child'
  | 'schedule id'
  | 'error name'
  | 'error names'
  | 'catchable error names'
  | 'count'
  | 'boolean'
  | 'join'
  | 'onBranchError'
  | 'onItemError'
  | 'backoff'
  | 'overlap'
  | 'duration'
  | 'delay'
  | 'limit'
  | 'cron'
  | 'timezone'
  | 'condition'
  | 'formula'
  | 'schema'
  | 'input fields'
  | 'labels'
  | 'constants'
  | 'literal';

/** What has an inside whose check depends on what is around it. */
export type NestedKind =
  | 'message'
  | 'value'
  | 'list'
  | 'step arguments'
  | 'child arguments'
  | 'time or duration'
  | 'time, duration or never'
  | 'retry'
  | 'retry policies'
  | 'defaults'
  | 'schedule'
  | 'compensation'
  | 'reminder'
  | 'arms'
  | 'branches'
  | 'items'
  | 'onError';

/**
 * There is one check for each kind; `schemas/workflow.schema.json` says the same for editors, and a test holds the two
 * to the same keys.
 */
export type FieldKind = PlainKind | NestedKind;

export interface Shape<Kind extends string = FieldKind> {
  /** How messages call what has this shape. */
  readonly what: string;
  readonly required: readonly string[];
  readonly keys: Readonly<Record<string, Kind>>;
}

const common = { id: 'id', description: 'text', when: 'condition', onError: 'onError' } as const;

function item(verb: Verb, keys: Record<string, FieldKind>, required: readonly string[] = [verb]): Shape {
  return { what: `a \`${verb}\``, required, keys: { ...common, ...keys } };
}

export const itemShapes: Readonly<Record<Verb, Shape>> = {
  step: item('step', {
    step: 'handler',
    with: 'step arguments',
    timeout: 'limit',
    retry: 'retry',
    compensate: 'compensation',
  }),
  set: item('set', { set: 'value' }),
  group: item('group', { group: 'items', timeout: 'limit' }),
  branch: item('branch', { branch: 'arms' }),
  parallel: item('parallel', { parallel: 'branches', join: 'join', onBranchError: 'onBranchError', timeout: 'limit' }),
  forEach: item(
    'forEach',
    {
      forEach: 'list',
      as: 'identifier',
      concurrency: 'count',
      maxIterations: 'count',
      onItemError: 'onItemError',
      do: 'items',
      timeout: 'limit',
    },
    ['forEach', 'do'],
  ),
  doWhile: item('doWhile', { doWhile: 'condition', maxIterations: 'count', do: 'items', timeout: 'limit' }, [
    'doWhile',
    'do',
  ]),
  doUntil: item('doUntil', { doUntil: 'condition', maxIterations: 'count', do: 'items', timeout: 'limit' }, [
    'doUntil',
    'do',
  ]),
  waitFor: item(
    'waitFor',
    {
      waitFor: 'signal',
      schema: 'schema',
      filter: 'condition',
      timeout: 'time, duration or never',
      onTimeout: 'value',
      remind: 'reminder',
    },
    ['waitFor', 'timeout'],
  ),
  sleep: item('sleep', { sleep: 'time or duration' }),
  subWorkflow: item('subWorkflow', {
    subWorkflow: 'child',
    with: 'child arguments',
    revision: 'count',
    timeout: 'limit',
  }),
  pivot: item('pivot', { pivot: 'note' }),
  complete: item('complete', { complete: 'value' }),
  fail: item('fail', { fail: 'error name', message: 'message', details: 'value' }),
  rethrow: item('rethrow', { rethrow: 'note' }),
};

export const workflowShape: Shape = {
  what: 'a workflow',
  required: ['workflow', 'steps'],
  keys: {
    $schema: 'text',
    workflow: 'workflow name',
    revision: 'count',
    description: 'text',
    labels: 'labels',
    input: 'input fields',
    inputSchema: 'schema',
    constants: 'constants',
    timeout: 'limit',
    concurrency: 'count',
    defaults: 'defaults',
    retryPolicies: 'retry policies',
    schedule: 'schedule',
    steps: 'items',
    onFailure: 'items',
    finally: 'items',
    output: 'value',
  },
};

/** Maps inside items and on the workflow, by their name in `$defs` of the schema. */
export const innerShapes = {
  whenArm: {
    what: 'an arm of a `branch`',
    required: ['when', 'do'],
    keys: { when: 'condition', do: 'items', name: 'text' },
  },
  elseArm: { what: 'the `else` of a `branch`', required: ['else'], keys: { else: 'items' } },
  onErrorEntry: {
    what: 'an entry of `onError`',
    required: ['do'],
    keys: { errors: 'catchable error names', when: 'condition', do: 'items' },
  },
  compensation: {
    what: '`compensate`',
    required: ['step'],
    keys: { step: 'handler', with: 'step arguments', retry: 'retry', timeout: 'duration', exceptErrors: 'error names' },
  },
  reminder: {
    what: '`remind`',
    required: ['every', 'step'],
    keys: { id: 'id', every: 'duration', step: 'handler', with: 'step arguments' },
  },
  retryPolicy: {
    what: 'a retry policy',
    required: [],
    keys: {
      attempts: 'count',
      delay: 'delay',
      backoff: 'backoff',
      maxDelay: 'delay',
      jitter: 'boolean',
      maxDuration: 'duration',
      errors: 'catchable error names',
      exceptErrors: 'catchable error names',
      when: 'condition',
    },
  },
  defaults: { what: '`defaults`', required: [], keys: { retry: 'retry', timeout: 'limit' } },
  cronSchedule: {
    what: 'an entry of `schedule`',
    required: ['cron', 'timezone'],
    keys: { id: 'schedule id', cron: 'cron', timezone: 'timezone', input: 'literal', overlap: 'overlap' },
  },
  intervalSchedule: {
    what: 'an entry of `schedule`',
    required: ['every'],
    keys: { id: 'schedule id', every: 'duration', input: 'literal', overlap: 'overlap' },
  },
  until: { what: 'a point in time', required: ['until'], keys: { until: 'formula' } },
} as const satisfies Record<string, Shape>;
