import type { Shape } from '../../definition/index.js';

/** What may stand under a key of a flow test; there is one check for each in `shape-walk.ts`. */
export type TestFieldKind =
  | 'text'
  | 'title'
  | 'name'
  | 'boolean'
  | 'attempt'
  | 'time'
  | 'duration'
  | 'condition'
  | 'value'
  | 'literal'
  | 'defaults'
  | 'tests'
  | 'handlers'
  | 'children'
  | 'throws'
  | 'signals'
  | 'crash'
  | 'cancel'
  | 'resume'
  | 'compensation'
  | 'verdict'
  | 'secrets'
  | 'expect'
  | 'turn'
  | 'place'
  | 'turns'
  | 'calls'
  | 'inputs'
  | 'expected error'
  | 'elapsed'
  | 'expected children'
  | 'receiver'
  | 'without'
  | 'status'
  | 'rollback'
  | 'start refusal'
  | 'signal refusal'
  | 'cancel refusal'
  | 'resume refusal'
  | 'decision refusal';

export type TestShape = Shape<TestFieldKind>;

/** What a test says of its run; all of it may stand in `defaults`. */
const scenario = {
  now: 'time',
  input: 'literal',
  handlers: 'handlers',
  children: 'children',
  signals: 'signals',
  crash: 'crash',
  cancel: 'cancel',
  resume: 'resume',
  compensation: 'compensation',
  secrets: 'secrets',
} as const;

/** By their name in `$defs` of `schemas/flow-test.schema.json`; a test holds the two to the same keys. */
export const testShapes = {
  file: {
    what: 'a file of flow tests',
    required: ['workflow', 'tests'],
    keys: { $schema: 'text', workflow: 'title', now: 'time', defaults: 'defaults', tests: 'tests' },
  },
  testDefaults: { what: '`defaults`', required: [], keys: scenario },
  test: {
    what: 'a test',
    required: ['name'],
    keys: { name: 'title', ...scenario, without: 'without', expect: 'expect' },
  },
  reply: {
    what: 'an answer',
    required: [],
    keys: { when: 'condition', takes: 'duration', returns: 'literal', throws: 'throws' },
  },
  throws: {
    what: '`throws`',
    required: ['name'],
    keys: {
      name: 'name',
      message: 'text',
      code: 'text',
      details: 'literal',
      noEffect: 'boolean',
      nonRetryable: 'boolean',
    },
  },
  signal: {
    what: 'a signal',
    required: ['name'],
    keys: {
      at: 'duration',
      after: 'turn',
      name: 'name',
      payload: 'literal',
      to: 'receiver',
      refused: 'signal refusal',
    },
  },
  crashPoint: {
    what: 'a crash',
    required: [],
    keys: { at: 'duration', after: 'place', during: 'place', down: 'duration' },
  },
  cancel: {
    what: '`cancel`',
    required: [],
    keys: { at: 'duration', after: 'turn', compensate: 'boolean', refused: 'cancel refusal' },
  },
  resume: { what: '`resume`', required: ['at'], keys: { at: 'duration', refused: 'resume refusal' } },
  decision: {
    what: 'a decision',
    required: ['at', 'decide'],
    keys: { at: 'duration', decide: 'verdict', refused: 'decision refusal' },
  },
  expect: {
    what: '`expect`',
    required: [],
    keys: {
      status: 'status',
      error: 'expected error',
      rollback: 'rollback',
      ran: 'turns',
      exactly: 'turns',
      notRan: 'turns',
      compensated: 'turns',
      calls: 'calls',
      inputs: 'inputs',
      elapsed: 'elapsed',
      output: 'value',
      outputMatches: 'condition',
      children: 'expected children',
      refused: 'start refusal',
    },
  },
  expectedElapsed: {
    what: '`elapsed`',
    required: [],
    keys: { atLeast: 'duration', atMost: 'duration', exactly: 'duration' },
  },
  expectedError: {
    what: '`error`',
    required: [],
    keys: { name: 'name', message: 'text', step: 'text', attempt: 'attempt', details: 'value' },
  },
} as const satisfies Record<string, TestShape>;

/** The words that some fields are limited to. */
export const testWords = {
  status: ['completed', 'failed', 'cancelled', 'waiting', 'sleeping', 'retrying', 'compensation-stuck'],
  rollback: ['not-applicable', 'completed', 'partial', 'stuck', 'abandoned', 'owed'],
  'start refusal': ['ValidationError'],
  'signal refusal': ['UnknownSignal', 'ValidationError', 'SignalAlreadyDelivered', 'SignalTooLate', 'RunEnded'],
  'cancel refusal': ['RunAlreadyEnding', 'RunEnded'],
  'resume refusal': ['RunNotResumable'],
  verdict: ['resume', 'abandon'],
  'decision refusal': ['RunNotStuck', 'RunEnded'],
} as const satisfies Partial<Record<TestFieldKind, readonly string[]>>;
