import { describe, expect, test } from 'vitest';
import { type CataloguedWorkflow, checkSource } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';

const catalogued = (name: string, ...starts: string[]): [string, CataloguedWorkflow[]] => {
  const steps = starts.map((child) => ({ subWorkflow: child, when: '$input.depth > 0' }));
  return [name, [{ name, revision: 1, document: { workflow: name, steps } }]];
};

const options = {
  handlers: new Map([
    ['ask', { name: 'ask' }],
    ['tell', { name: 'tell' }],
    ['reserve', { name: 'reserve', errors: ['OutOfStock'] }],
  ]),
  workflows: new Map([catalogued('down', 'flow'), catalogued('other')]),
};

function said(text: string): string {
  const source = new Source('flow.yaml', text);
  return renderDiagnostics(checkSource(source, options).diagnostics, source, { color: false });
}

const head = `workflow: flow
input:
  total: { type: number }
  rush: { type: boolean }
  state: { type: string }
  list: { type: array }
  depth: { type: integer }
  more: { type: object, additionalProperties: true, optional: true }
constants:
  limit: 1000
  on: true
`.replace('  on: true\n', '  enabled: true\n');

const uses = `
  - when: =$constants.enabled and $input.total < $constants.limit
    step: tell`;

describe('nothing is said of', () => {
  test.each<[string, string]>([
    [
      'a guard in an outer item for what is read deep inside',
      `
  - when: =$input.rush
    id: asked
    step: ask
  - when: =$exists($steps.asked) and $steps.asked.ok = true
    group:
      - branch:
          - when: =$input.total > 1
            do:
              - set: =$steps.asked.by
          - else:
              - forEach: =$steps.asked.list
                do:
                  - set: =$steps.asked.name & $item`,
    ],
    [
      'the same condition in other words',
      `
  - when: =$input.total>1000
    id: asked
    step: ask
  - when: "=( $input.total  >  1000 )"
    set: =$steps.asked
  - when: $not($input.total <= 1000)
    set: =$steps.asked
  - when: =$input.rush and $input.total > 1000
    set: =$steps.asked`,
    ],
    [
      'two branches with the same arms',
      `
  - branch:
      - when: =$input.state = "new"
        do: [{ id: opened, step: ask }]
      - when: =$input.state = "old"
        do: [{ id: found, step: ask }]
      - else: [{ id: made, step: ask }]
  - branch:
      - when: =$input.state = "new"
        do: [{ set: =$steps.opened.id }]
      - when: =$input.state = "old"
        do: [{ set: =$steps.found.id }]
      - else: [{ set: =$steps.made.id }]`,
    ],
    [
      'an item whose when is the condition of an arm, and the reverse',
      `
  - branch:
      - when: =$input.rush
        do: [{ id: fast, step: ask }]
      - else: [{ id: slow, step: ask }]
  - when: =$input.rush
    set: =$steps.fast.at
  - when: =$input.rush = false
    set: =$steps.slow.at
  - set: "=$input.rush ? $steps.fast.at : $steps.slow.at"`,
    ],
    [
      'an item after a fail for the case that it is missing',
      `
  - when: =$input.rush
    id: asked
    step: ask
  - when: =$not($exists($steps.asked))
    fail: NobodyAsked
  - set: =$steps.asked.by`,
    ],
    [
      'an item after an early end in the opposite case',
      `
  - when: =$input.total > 5
    id: asked
    step: ask
  - when: =$input.total <= 5
    group:
      - step: tell
      - complete: small
  - set: =$steps.asked.by`,
    ],
    [
      'the one arm that goes on',
      `
  - branch:
      - when: =$input.state = "broken"
        do: [{ fail: Broken }]
      - when: =$input.state = "done"
        do: [{ step: tell }, { complete: done }]
      - else: [{ id: asked, step: ask }]
  - set: =$steps.asked.by`,
    ],
    [
      'a step whose error is handled by giving up, and the item whose handlers all give something',
      `
  - id: reserve
    step: reserve
    onError:
      - errors: [OutOfStock]
        do: [{ step: tell }, { rethrow: as it was }]
  - id: asked
    step: ask
    onError:
      - errors: [Timeout]
        do: [{ step: tell }, { set: { by: nobody } }]
      - do: [{ step: tell }]
  - set: =$steps.reserve.id & $steps.asked.by`,
    ],
    [
      'a counter and what the last turn has left',
      `
  - doUntil: =$steps.n >= 3 and $steps.page.next = null
    do:
      - id: n
        set: =($steps.n ?? 0) + 1
      - when: =$iteration > 0
        set: =$steps.page.next
      - id: page
        step: ask
        with: { from: "=$iteration = 0 ? null : $steps.page.next" }
  - set: =$steps.page.total + $steps.n`,
    ],
    [
      'what only the first turn does',
      `
  - doWhile: =$iteration < 5
    do:
      - when: =$iteration = 0
        id: token
        step: ask
      - id: page
        step: ask
        with: { token: =$steps.token.value }
  - set: =$steps.token.value & $steps.page.last`,
    ],
    [
      'a loop that ends when the thing is there',
      `
  - doUntil: =$exists($steps.found)
    do:
      - id: look
        step: ask
      - when: =$steps.look.ok = true
        id: found
        set: =$steps.look.it
  - set: =$steps.found.name`,
    ],
    [
      'a loop with true as its condition that is left by complete',
      `
  - doWhile: true
    do:
      - id: look
        step: ask
      - when: =$steps.look.ok = true
        complete: =$steps.look.it`,
    ],
    [
      'loops whose condition depends on time, chance or the outer loop and their body',
      `
  - doWhile: =$now() < "2031-01-01"
    do: [{ sleep: 1d }]
  - doUntil: =$random() < 0.1
    do: [{ step: tell }]
  - forEach: =$input.list
    as: order
    do:
      - doUntil: =$steps.tried.ok = $order.wanted
        do: [{ id: tried, step: ask }]`,
    ],
    [
      'counting, listing and joining what may be missing',
      `
  - when: =$input.rush
    id: asked
    step: ask
  - set:
      count: =$count($steps.asked)
      all: =[$steps.asked, 1]
      more: =$append($steps.asked.list, [1])
      has: =$exists($steps.asked.by)
      any: =$count($steps.asked.list[ok = $steps.asked.best]) > 0
  - forEach: =$steps.asked.list[ok]
    do: [{ step: tell }]`,
    ],
    [
      'defaults of every kind',
      `
  - when: =$input.rush
    id: asked
    step: ask
  - set: =$steps.asked.by ?? $steps.asked.name ?? "nobody"
  - set: =($steps.asked.total ?? 0) + 1
  - when: =($steps.asked.ok ?? false) = true
    set: =$steps.asked.by
  - set: =$exists($steps.asked.by) ? $uppercase($steps.asked.by) : "nobody"
  - when: =$not($exists($steps.asked)) or $steps.asked.total > 5
    step: tell`
        .replace('set: =$exists($steps.asked.by) ?', 'set: "=$exists($steps.asked.by) ?')
        .replace(': "nobody"\n  - when: =$not', ": 'nobody'\"\n  - when: =$not"),
    ],
    [
      'branches of a parallel that wait for one another',
      `
  - parallel:
      one: [{ id: one, step: ask }]
      two:
        - group: [{ id: two, step: ask }]
    onBranchError: wait
  - set: =$steps.one.a + $steps.two.b`,
    ],
    [
      'the winner of a race, with a default',
      `
  - id: race
    parallel:
      one: [{ id: one, step: ask }]
      two: [{ id: two, step: ask }]
    join: any
  - set: =$steps.one.a ?? $steps.two.a
  - set: =$steps.race.*`,
    ],
    [
      'one of two that is there if the other is not',
      `
  - branch:
      - when: =$input.rush
        do: [{ id: fast, step: ask }]
      - else: [{ id: slow, step: ask }]
  - set: =$steps.fast.at ?? $steps.slow.at
  - set: "=$exists($steps.slow) ? $steps.slow.at : $steps.fast.at"
  - group:
      - id: normal
        step: ask
    onError:
      - do: [{ id: instead, step: ask }]
  - set: =$steps.normal.at ?? $steps.instead.at
  - set: =$steps.instead.at ?? $steps.normal.at
  - when: =$input.total > 5
    id: big
    step: ask
  - when: =$input.total <= 5
    id: small
    step: ask
  - set: =$steps.big.at ?? $steps.small.at`,
    ],
    [
      'what a group has done before it failed, asked for with care',
      `
  - group:
      - id: started
        set: =$now()
      - id: first
        step: ask
      - step: tell
    onError:
      - when: =$exists($steps.first)
        do:
          - step: tell
            with: { id: =$steps.first.id, since: =$steps.started }
      - do: [{ step: tell, with: { since: =$steps.started } }]`,
    ],
    [
      'gates of one signal in different arms, after an end, and in one loop twice',
      `
  - branch:
      - when: =$input.total > 5
        do: [{ waitFor: yes-or-no, timeout: 1d }]
      - else: [{ waitFor: yes-or-no, timeout: 1h }]
  - when: =$input.state = "a"
    group: [{ waitFor: word, timeout: 1d }, { complete: 1 }]
  - waitFor: word
    timeout: 2d
  - when: =$input.state = "b"
    waitFor: letter
    timeout: 1d
  - when: =$input.state = "c"
    waitFor: letter
    timeout: 1d
  - doUntil: =$iteration = 2
    do:
      - { waitFor: vote, timeout: 1d, schema: { type: object, properties: { a: { type: string } } } }
      - { waitFor: vote, timeout: 1d, schema: { properties: { a: { type: string } }, type: object } }`,
    ],
    [
      'a workflow that starts itself with a condition on the way',
      `
  - when: =$input.depth > 3
    complete: deep enough
  - subWorkflow: flow
    with: { depth: =$input.depth + 1 }
  - subWorkflow: down
  - subWorkflow: other
    revision: 1`,
    ],
    [
      'children under loops that may have no turn, and in handlers',
      `
  - forEach: =$input.list
    do: [{ subWorkflow: flow }]
  - doWhile: =$iteration < $input.depth
    do: [{ subWorkflow: flow }]
  - step: tell
    onError:
      - do: [{ subWorkflow: flow }]`,
    ],
    [
      'names of errors where some handler may raise any, and those of the language and of fail',
      `
  - group:
      - step: ask
      - when: =$input.rush
        fail: TooFast
    onError:
      - errors: [Anything, TooFast]
        do: []
  - group:
      - step: reserve
      - subWorkflow: other
      - when: =$input.rush
        fail: TooFast
    onError:
      - errors: [OutOfStock, TooFast, ChildFailed, ExpressionError, '*']
        do: []
  - step: reserve
    retry: { exceptErrors: [OutOfStock, Timeout] }`,
    ],
    [
      'an else that must be there, and a switch',
      `
  - branch:
      - when: true
        do: [{ step: tell }]
      - else: []
  - when: true
    step: tell
  - doUntil: true
    do: [{ step: tell }]`,
    ],
    [
      'arms that overlap but do not cover one another',
      `
  - branch:
      - when: =$input.total > 10 and $input.rush
        do: [{ step: tell }]
      - when: =$input.total > 10
        do: [{ step: ask }]
      - when: =$input.total > 5 or $input.rush
        do: [{ step: tell }]
      - else: [{ fail: NotPossible }]`,
    ],
    [
      'an output that is given where nothing gives one by itself',
      `
  - id: maybe
    group:
      - when: =$input.rush
        set: 1
      - set: 2
  - id: tried
    fail: Never
    onError:
      - do: [{ set: handled }]
  - set: =$steps.maybe + $count($steps.tried)
  - id: first
    doWhile: =$iteration < 2
    do: [{ set: =$iteration }]
  - set: =$steps.first`,
    ],
    [
      'a compensation and a policy that read what came before',
      `
  - id: asked
    step: ask
  - step: reserve
    retry: { when: =$error.attempt < $steps.asked.attempts }
    compensate:
      step: tell
      with: { id: =$result.id, by: =$steps.asked.by }`,
    ],
  ])('%s', (_, steps) => {
    expect(said(`${head}steps:${uses}${steps}\n`)).toBe('');
  });

  test.each<[string, string]>([
    [
      'finally, where the run is known to have completed',
      `
steps:
  - id: asked
    step: ask
finally:
  - when: =$run.status = "completed"
    step: tell
    with: { by: =$steps.asked.by }
  - when: =$exists($error)
    step: tell
    with: { why: =$error.message, by: =$steps.asked.by ?? null }`,
    ],
    [
      'a policy of many steps that reads what has run before all of them',
      `
retryPolicies:
  patient: { when: =$error.attempt < $steps.asked.attempts }
defaults:
  retry: { attempts: 2 }
steps:
  - id: asked
    step: ask
  - step: tell
    retry: patient
  - group: [{ step: reserve, retry: patient }]
output: =$steps.asked.by`,
    ],
  ])('%s', (_, rest) => {
    expect(said(`workflow: flow${rest}\n`)).toBe('');
  });
});
