/**
 * Correct flows that look suspicious, by what is suspicious about them. Those without `workflow:` are the steps of a
 * flow with the input `order` (any object), `items` (a list) and `note` (a text).
 */
export const suspiciousFlows: readonly (readonly [about: string, text: string])[] = [
  // Quoting and YAML
  [
    'formulas in all quotes',
    `
  - set: '=$input.note & "it''s"'
  - set: "=$input.note & \\"x\\""
  - set: =$input.note & 'single quotes'`,
  ],
  [
    'a formula in a literal block',
    `
  - set: |
      =$input.note & " " &
        $string($count($input.items))`,
  ],
  [
    'a formula in a folded block that keeps its last line',
    `
  - when: >
      $count($input.items) > 0
    set: >+
      =$input.note

  - set: 1`,
  ],
  [
    'a formula over several plain lines',
    `
  - set: =$input.note
      & " and "
      & $input.note`,
  ],
  [
    'a formula over several double-quoted lines',
    `
  - set: "=$input.note \\
      & \\"x\\""`,
  ],
  [
    'an indented block with an indicator',
    `
  - set:
      text: |2
          indented by two more
        than this`,
  ],
  [
    'anchors and aliases of arguments',
    `
  - step: mail.send
    with: &letter { to: eva@example.test, template: hello }
  - step: mail.send
    with: *letter`,
  ],
  [
    'an anchored formula read at two places',
    `
  - set: &total =$count($input.items) * 2
  - set: { a: *total, b: *total }`,
  ],
  [
    'an anchored list of errors',
    `
  - step: payments.charge
    retry: { errors: &passing [Timeout, GatewayUnavailable] }
  - step: payments.charge
    retry: { attempts: 5, errors: *passing }`,
  ],
  [
    'a flow written in one line',
    `{ workflow: fine, steps: [{ step: mail.send, with: { to: eva@example.test } }, { sleep: 5m }] }`,
  ],
  [
    'a flow in JSON',
    `{
  "workflow": "fine",
  "input": { "total": { "type": "number" } },
  "steps": [{ "id": "sum", "set": "=$input.total * 2" }, { "set": "=$steps.sum + 1" }]
}`,
  ],
  [
    'JSON indented by tabs',
    `{
\t"workflow": "fine",
\t"steps": []
}`,
  ],
  [
    'a document marker and comments everywhere',
    `--- # first
# a comment
workflow: fine # the name
steps: # none
  [] # yet
# the end`,
  ],
  [
    'a byte order mark and line ends of Windows',
    `\ufeffworkflow: fine\r\nsteps:\r\n  - set: >-\r\n      =1 +\r\n      2\r\n`,
  ],
  [
    'keys in quotes',
    `
  - "id": quoted
    'set': 1
  - set: =$steps.quoted`,
  ],
  [
    'a list at the indentation of its key',
    `workflow: fine
steps:
- group:
  - set: 1
  - set: 2`,
  ],
  [
    'quoted words that other readers take for booleans',
    `
  - set: { a: 'yes', b: "no", c: 'on', d: "off" }`,
  ],
  [
    'numbers in quotes that are no numbers',
    `
  - set: { zip: '01234', version: "1.10", phone: '+49 30 123' }`,
  ],
  [
    'numbers of many forms',
    `
  - set: { a: -5, b: 0.5, c: 9007199254740991, d: -0.25 }`,
  ],
  [
    'null in several forms',
    `
  - set: { a: null, b: ~, c: [null] }`,
  ],
  [
    'empty texts, lists and maps',
    `
  - set: { text: '', list: [], map: {} }
  - group: []
  - forEach: []
    do: []
  - parallel: { one: [] }`,
  ],
  [
    'a plain text with a hash and colons inside',
    `
  - set: { anchor: page#top, time: 12:30, url: http://example.test/a?b=c#d }`,
  ],
  [
    'characters of many scripts',
    `
  - set: { größe: groß, 名前: 山田, 'emoji 👍': "\\U0001F44D", rtl: "שלום" }
  - set: =$input.order.größe ?? "ohne"`,
  ],
  [
    'names of fields that only backquotes can write',
    `
  - set: =$input.order.\`a field\` ?? $input.order.\`first-name\` ?? ""`,
  ],
  [
    'non-breaking and zero-width spaces in text',
    `
  - set: "a\u00a0b\u200bc"`,
  ],

  // Literal texts that look like formulas, variables or markers
  [
    'prices and dollars',
    `
  - step: mail.send
    with: { price: $5, range: $5-$10, currency: US$, alone: $, twice: $$, word: $dollars }`,
  ],
  [
    'braces of other meanings',
    `
  - step: mail.send
    with: { css: "a{b}", set: "{1, 2}", regex: "^[a-z]{2,3}$", json: '{"a": {"b": 1}}', percent: 100 % }`,
  ],
  [
    'markers as formulas',
    `
  - step: mail.send
    with:
      template: '="{{name}}"'
      shell: ="\${HOME}/bin"
      equals: '="=not a formula"'`,
  ],
  [
    'text that begins with an equals sign inside',
    `
  - step: mail.send
    with: { query: a=b, arrow: -> }`,
  ],
  [
    'a path of another tool as a formula',
    `
  - step: lookup
    with: { jsonPath: '="$.store.book[*]"', shell: "echo $(date)", awk: "{ print $1 }" }`,
  ],
  [
    'emails and addresses',
    `
  - step: mail.send
    with: { to: "eva+orders$x@example.test", from: '"Eva" <eva@example.test>' }`,
  ],
  [
    'markdown and code as text',
    `
  - step: mail.send
    with:
      body: |
        # Hello
        - item: one
        \`\`\`js
        if (a == b && !c) { return \`x\` }
        \`\`\``,
  ],
  [
    'comparison signs in text',
    `
  - set: { text: a == b && c != null, more: x => y }`,
  ],

  // Data keys named like ours
  [
    'fields named like keys of the language',
    `
  - step: lookup
    with:
      step: one
      when: tomorrow
      retry: 3
      timeout: 5
      id: a-b
      steps: [{ step: 1 }]
      if: yes it is
      uses: nothing
      onError: none`,
  ],
  [
    'constants named like keys of the language',
    `workflow: fine
constants: { steps: 3, timeout: 5, when: never, workflow: x }
steps:
  - set: =$constants.steps + $constants.timeout
  - set: =[$constants.when, $constants.workflow]`,
  ],
  [
    'an output with any keys',
    `workflow: fine
steps: []
output: { id: 1, timeout: 5, if: x, run: y, jobs: [] }`,
  ],
  [
    'input fields named like words of other tools',
    `workflow: fine
input:
  uses: { type: string }
  "on": { type: string }
  steps: { type: array }
  properties: { type: object }
steps:
  - set: [=$input.uses, =$input.steps, =$input.properties]
  - set: =$input.on`,
  ],
  [
    'schemas with properties named like keywords',
    `workflow: fine
input:
  shape:
    type: object
    properties:
      type: { type: string }
      $schema: { type: string }
      required: { type: boolean }
      default: { type: string, default: none }
      enum: { enum: [enum, const] }
steps: []`,
  ],
  [
    'a whole schema of its own',
    `workflow: fine
inputSchema:
  $schema: https://json-schema.org/draft/2020-12/schema
  type: object
  properties: { a: { $ref: '#/$defs/a' } }
  $defs: { a: { type: [string, 'null'], x-note: free } }
steps: []`,
  ],
  [
    'names of parallel branches like verbs',
    `
  - parallel:
      step: [{ set: 1 }]
      sleep: [{ set: 2 }]
      onError: [{ set: 3 }]
      a.b: []`,
  ],
  [
    'retry policies with odd names',
    `workflow: fine
retryPolicies: { default: { attempts: 2 }, retry: { attempts: 3 }, a-b.c: {} }
steps:
  - { step: lookup, retry: default }
  - { step: lookup, retry: retry }
  - { step: lookup, retry: a-b.c }`,
  ],

  // Values at their limits
  [
    'durations of every form',
    `
  - sleep: 500ms
  - sleep: 1h30m
  - sleep: 14d
  - sleep: PT2H30M
  - sleep: P1DT12H
  - sleep: 90m`,
  ],
  [
    'limits of every form',
    `
  - { step: lookup, timeout: never }
  - { group: [], timeout: 5s }
  - { waitFor: approval, timeout: never }
  - { waitFor: other, timeout: { until: $input.order.deadline } }
  - { sleep: { until: ="2030-01-01T00:00:00Z" } }`,
  ],
  [
    'cron and time zones',
    `workflow: fine
schedule:
  - { cron: '0 7 * * MON-FRI', timezone: Europe/Berlin }
  - { cron: '*/15 0-6,20-23 1 JAN,jul 7', timezone: UTC, overlap: queue }
  - { id: by-interval, every: 1h, overlap: allow }
  - { cron: "30 2 29 2 *", timezone: America/Argentina/Buenos_Aires }
steps: []`,
  ],
  [
    'a schedule with input',
    `workflow: fine
input: { day: { type: string, default: today } }
schedule: [{ every: 1d, input: {} }, { every: 2d, input: { day: tomorrow } }]
steps: []`,
  ],
  [
    'retries of every form',
    `
  - step: lookup
    retry: { attempts: 1, delay: 0s, backoff: constant, jitter: false }
  - step: lookup
    retry: { maxDelay: 1h, maxDuration: 1d, exceptErrors: ['404', Not Found], when: $error.attempt < 3 }`,
  ],
  [
    'five lists in one another',
    `
  - group:
      - group:
          - group:
              - group: [{ set: 1 }]`,
  ],
  [
    'an item with everything',
    `
  - id: all
    description: "All: of it"
    when: $count($input.items) > 0
    step: payments.charge
    with: =$input.order
    timeout: 20s
    retry: { attempts: 2 }
    compensate: { step: payments.refund, with: { id: =$result.id }, exceptErrors: ['*'] }
    onError:
      - errors: ['*']
        when: $error.name != "x"
        do: [{ rethrow: again }]`,
  ],

  // Formulas that look like those of other languages
  [
    'words of other languages as fields',
    `
  - set: =$input.items[length > 5 and size != null].if
  - set: =$input.order.not & $input.order.is
  - set: =$input.items.(then & else)`,
  ],
  [
    'operators inside texts',
    `
  - set: ="a == b && !c || x => y"
  - set: =$replace($input.note, "=>", "->")
  - set: =$contains($input.note, /==|&&/)`,
  ],
  [
    'a plus of numbers that look like texts',
    `
  - set: =$number("5") + 1
  - set: =$length("abc") + $count($input.items)
  - set: =$toMillis($now()) - $run.startedAt`,
  ],
  [
    'positions and predicates',
    `
  - set: =$input.items[0]
  - set: =$input.items[-1].name
  - set: =$input.items[kind = "a"][0]
  - set: =$input.items[active]
  - set: =$input.items[[0..2]]`,
  ],
  [
    'a comparison with null',
    `
  - set: =$input.order.by != null
  - set: =($input.order.by ?? null) = null`,
  ],
  [
    'own names that are those of other languages',
    `
  - set: =( $x := 1; $let := 2; $return := 3; $x + $let + $return )
  - set: =$map($input.items, function($it, $index) { $it.name })`,
  ],
  [
    'the functions of JSONata by reference',
    `
  - set: =$input.note ~> $uppercase ~> $trim
  - set: =$map($input.items, $string)
  - set: =$filter($input.items, function($v) { $v.ok })`,
  ],
  [
    'an object, a grouping and a transform',
    `
  - set: '={ "a": $input.note, "b": [$input.items.name] }'
  - set: '=$input.items{ kind: $count($) }'
  - set: '=$input.order ~> |lines|{ "total": qty * price }|'`,
  ],
  [
    'regular expressions with slashes and quotes',
    `
  - set: =$match($input.note, /a\\/b"'/)
  - set: '=$split($input.note, /[,;]\\s*/)'`,
  ],
  [
    'a conditional without an else, where absence is allowed',
    `
  - set: '=($count($input.items) > 1 ? "many") ?? null'`,
  ],
  [
    'a comment inside a formula',
    `
  - set: =/* why */ 1 + /* and more */ 2`,
  ],
  [
    'a field called output',
    `
  - id: build
    step: lookup
  - set: =$steps.build.output & $steps.build.result & $steps.build.\`outputs\``,
  ],
  [
    'an id that is a word of the language',
    `
  - id: step
    set: 1
  - id: item
    set: 2
  - id: when
    set: =$steps.step + $steps.item`,
  ],
  [
    'a handler with odd characters in its name',
    `
  - step: _private.handler-v2.do_it
    with: {}`,
  ],
  [
    'booleans and switches as conditions',
    `
  - { when: true, set: 1 }
  - { when: =true, set: 2 }
  - { doWhile: $iteration < 3, do: [] }`,
  ],
];
