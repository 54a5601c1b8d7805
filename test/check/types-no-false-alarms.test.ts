import { describe, expect, test } from 'vitest';
import { checkSource } from '../../src/check/index.js';
import { Source, renderDiagnostics } from '../../src/syntax/index.js';
import { typedCatalogues } from './typed-catalogues.js';

const input = `
input:
  total: { type: number }
  name: { type: string }
  status: { enum: [approved, rejected, pending] }
  phone: { type: string, optional: true }
  currency: { type: string, default: EUR }
  urgent: { type: boolean, default: false }
  any: {}
  either: { type: [string, number] }
  maybe: { type: [string, 'null'] }
  tags: { type: array, items: { type: string } }
  matrix: { type: array, items: { type: array, items: { type: number } } }
  free: { type: object, additionalProperties: true, properties: { color: { type: string } } }
  prices: { type: object, additionalProperties: { type: number } }
  shape: { oneOf: [{ type: object, properties: { radius: { type: number } } }, { type: object, properties: { side: { type: number } } }] }
  customer: { type: object, properties: { id: { type: string }, address: { type: object, optional: true, properties: { city: { type: string } } } } }
  items: { type: array, items: { type: object, properties: { sku: { type: string }, qty: { type: integer }, note: { type: string, optional: true } } } }
`;

const constants = 'constants: { limit: 10, mode: strict, nothing: null, rates: { EUR: 1 } }\n';

function said(steps: string): string {
  const source = new Source(
    'fine.yaml',
    `workflow: fine\n${input}\n${steps.includes('$constants') ? constants : ''}steps:${steps}\n`,
  );
  return renderDiagnostics(checkSource(source, typedCatalogues).diagnostics, source, { color: false });
}

/** Correct flows that a checker of types could stumble over. */
describe('nothing is said of', () => {
  test.each<[string, string]>([
    [
      'what may be one of several kinds',
      `
  - set: { sum: =$input.either + 1, text: =$uppercase($input.either), same: '=$input.either = "a" or $input.either = 1' }
  - when: =$input.any
    set: =$input.any.deep.er + 1
  - forEach: =$input.any
    do: [{ set: =$item.name }]
  - sleep: { until: =$input.either }`,
    ],
    [
      'what may be null',
      `
  - when: =$input.maybe = null
    set: =$input.maybe
  - when: =$input.maybe != null and $length($input.maybe) > 2
    set: =$uppercase($input.maybe)`,
    ],
    [
      'an optional field with a default, or asked for',
      `
  - set: { a: =$input.phone ?? null, b: '=$input.phone ?: "none"', c: '=$exists($input.phone) ? $input.phone : "none"' }
  - when: =$exists($input.phone) and $input.phone != ""
    group:
      - set: ="Tel. " & $input.phone
  - set: =$count($input.phone)
  - set: =[$input.phone]
  - set: '=$exists($input.customer.address.city) ? $input.customer.address.city : "nowhere"'`,
    ],
    [
      'an optional field after a step that ends the run without it',
      `
  - when: =$not($exists($input.phone))
    fail: NoPhone
  - set: =$input.phone`,
    ],
    [
      'an optional field in the arm after the one that asked for it',
      `
  - branch:
      - when: =$not($exists($input.customer.address))
        do: []
      - else:
          - set: =$input.customer.address.city`,
    ],
    [
      'fields with defaults',
      `
  - set: =$input.currency & " " & $string($input.urgent)
  - when: =$input.urgent
    set: 1`,
    ],
    [
      'open maps and maps of anything',
      `
  - set: { a: =$input.free.whatever, b: =$input.free.color, c: =$input.prices.EUR + 1, d: =$input.prices.size ?? 0 }
  - set: =$lookup($input.prices, $input.currency) * 2`,
    ],
    [
      'alternatives of a schema',
      `
  - set: '=$exists($input.shape.radius) ? $input.shape.radius * 2 : $input.shape.side'`,
    ],
    [
      'comparisons that can be true',
      `
  - when: =$input.status = "approved" or $input.status in ["rejected", "pending"]
    set: 1
  - when: =$input.status != "approved"
    set: 1
  - when: =$input.tags = ["a"] or $input.items[0] = { "sku":"a", "qty":1 }
    set: 1
  - when: =$input.name in $input.tags
    set: 1
  - when: =$input.status = $input.name
    set: 1`,
    ],
    [
      'constants, which are switches',
      `
  - when: =$constants.mode = "loose"
    set: 1
  - when: =$constants.limit = 20 or $constants.nothing = null
    set: 1
  - set: =$lookup($constants.rates, "USD") ?? 1`,
    ],
    [
      'constant steps, which are switches too',
      `
  - id: dryRun
    set: true
  - id: mode
    set: { level: low }
  - when: =$steps.dryRun = false or $steps.mode.level = "high"
    set: 1`,
    ],
    [
      'lists that are mapped, filtered and picked from',
      `
  - set: =$sum($input.items.qty) + $sum($input.items.(qty * 2)) + $count($input.items[qty > 1])
  - set: { all: '=[$input.items.sku]' }
  - set: { one: '=$input.items[sku = "a"].qty', last: '=$input.items[-1].sku', list: '=$input.items.sku[]', sorted: '=$input.items^(qty).sku' }
  - set: =$join($input.items.sku, ", ") & $join($input.tags) & $join($input.name)`.replace(
        '{ first: =$input.items.sku, ',
        '{ ',
      ),
    ],
    [
      'functions over lists',
      `
  - set: =$map($input.items, function($line, $i) { { "sku":$line.sku, "at":$i + 1 } })
  - set: =$filter($input.items, function($line) { $line.qty > 1 and $exists($line.note) }).sku
  - set: =$reduce($input.items.qty, function($a, $b) { $a + $b }, 0)
  - set: =$sort($input.items, function($a, $b) { $a.qty > $b.qty })[0].sku
  - set: =$map($input.tags, $uppercase) ~> $join("-")
  - set: =$single($input.items, function($line) { $line.sku = "a" }).qty + 1`,
    ],
    [
      'one value where a list may be',
      `
  - set: =$sum($input.total) + $max($input.total) + $count($input.name)
  - set: =$append($input.tags, $input.name)[0]
  - forEach: =$filter($input.items, function($line) { $line.qty > 1 })
    do: [{ set: =$item.sku }]
  - forEach: =$input.items[sku = "a"]
    do: [{ set: =$item.qty + $index }]
  - forEach: =[$input.name]
    do: [{ set: =$item & "x" }]`,
    ],
    [
      'lists in lists',
      `
  - forEach: =$input.matrix
    as: row
    do:
      - forEach: =$row
        as: cell
        do: [{ set: =$cell * 2 }]
  - set: =$sum($input.matrix[0]) + $input.matrix[0][0]`,
    ],
    [
      'names of the formula’s own',
      `
  - set: =($total := $input.total * 2; $add := function($x) { $x + $total }; $add(1) & "")
  - set: =($x := 1; $x := "a"; $uppercase($x))
  - set: '=($f := function($n) { $n < 2 ? 1 : $n * $f($n - 1) }; $f(5) + 1)'`,
    ],
    [
      'groupings, transforms, wildcards and parents',
      `
  - set: =($input.items{sku:$sum(qty)}).a + 1
  - set: =$input.customer ~> |$|{"id":1}|
  - set: =$input.customer.*[0]
  - set: =$count($input.customer.**)`,
    ],
    [
      'times',
      `
  - sleep: { until: ="2030-01-31T09:00:00Z" }
  - sleep: { until: '=$addDuration($now(), "3d")' }
  - sleep: { until: =$millis() + 1000 }
  - waitFor: go
    timeout: { until: =$input.name }`,
    ],
    [
      'outputs of handlers',
      `
  - id: paid
    step: cards.charge
    with: { amount: =$input.total, currency: EUR }
    compensate: { step: cards.refund, with: { payment: =$result.paymentId } }
  - when: =$steps.paid.state = "settled"
    set: { id: =$steps.paid.paymentId, fee: =$steps.paid.fee ?? 0, color: =$steps.paid.extra.color, other: =$steps.paid.extra.whatever }
  - id: free
    step: anything
    with: { what: ever }
  - set: =$steps.free.a.b + 1`,
    ],
    [
      'an output that a failure may have replaced',
      `
  - id: paid
    step: cards.charge
    with: { amount: 1, currency: USD }
    onError:
      - do: [{ set: { refused: true, why: =$error.message } }]
  - set: { a: =$steps.paid.refused ?? false, b: =$steps.paid.paymentId ?? null }`,
    ],
    [
      'arguments that are computed, secret or left out',
      `
  - step: cards.charge
    with: { amount: =$input.either, currency: =$input.currency, note: { $secret: NOTE } }
  - step: cards.charge
    with: =$input.any
  - step: cards.charge
    with: '={ "amount": $input.total, "currency": "EUR" }'
  - step: cards.charge
    with: { amount: 1, currency: EUR, card: { number: "1", owner: =$input.name } }
  - step: anything`,
    ],
    [
      'a child and what it gives',
      `
  - id: child
    subWorkflow: ship
    with: { orderId: =$input.name, parcels: '=[$count($input.items)]' }
  - set: =$steps.child.tracking & $string($steps.child.parcels + 1)
  - id: elsewhere
    subWorkflow: ship
    revision: 1
    with: { orderId: a, parcels: [] }
  - set: =$steps.elsewhere`,
    ],
    [
      'gates and what stands for their answer',
      `
  - id: gate
    waitFor: decision
    timeout: 1d
    schema: { type: object, properties: { approved: { type: boolean }, by: { type: string } } }
    filter: =$signal.approved = true or $signal.by = "eva"
    onTimeout: { approved: false, late: true }
  - when: =$steps.gate.approved
    set: { by: =$steps.gate.by ?? "nobody", late: =$steps.gate.late ?? false }
  - id: open
    waitFor: anything
    timeout: never
  - set: =$steps.open.a.b`,
    ],
    [
      'loops that read what their last turn left',
      `
  - id: count
    doUntil: =$steps.n > 3 or $steps.state.done
    do:
      - id: n
        set: =($steps.n ?? 0) + 1
      - id: state
        set: { done: =$steps.n = 2, text: '=$string($steps.n) & ($steps.state.text ?? "")' }
  - set: =$steps.count.done`,
    ],
    [
      'what blocks give',
      `
  - id: list
    forEach: =$input.items
    onItemError: continue
    do:
      - when: =$item.qty > 1
        set: { sku: =$item.sku }
  - forEach: =$steps.list
    do:
      - set: { ok: =$item.sku ?? null, why: =$item.error.message ?? null, nothing: =$item = null }
  - id: both
    parallel:
      one: [{ set: 1 }]
      two: [{ set: { a: x } }]
  - set: =$steps.both.one + 1 & $steps.both.two.a
  - id: choice
    branch:
      - when: =$input.urgent
        do: [{ set: { fast: 1 } }]
      - else: [{ set: slow }]
  - set: =$steps.choice.fast ?? $steps.choice`,
    ],
    [
      'errors and runs',
      `
  - group:
      - fail: Bad
        message: =$input.total
        details: { a: =$input.any }
    onError:
      - when: =$error.name = "Bad" and $error.details.a.b ?? true
        do:
          - set: =$error.message & $string($error.attempt) & $run.id & $run.startedAt & $workflow.name & $string($workflow.revision)`,
    ],
    [
      'unusual quoting',
      `
  - set: "=$input.customer.'id' & $input.\`name\`"
  - set: '=$input."total" + 1'
  - set: >-
      =$input
        .items
        [ qty > 1 ]
        . sku`,
    ],
  ])('%s', (_, steps) => {
    expect(said(steps)).toBe('');
  });
});
