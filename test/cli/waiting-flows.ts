import { notingHandlers } from './project.js';

/** Flows that come to a stop in every way there is. */
export const waitingFlows = {
  'handlers/all.ts': notingHandlers,
  'definitions/gate.yaml': `
workflow: gate
steps:
  - id: decision
    waitFor: approval
    timeout: 48h
    filter: $signal.by != "nobody"
    schema:
      type: object
      properties:
        approved: { type: boolean }
        by: { type: string }
        note: { type: string }
      required: [approved, by]
  - id: late
    waitFor: go
    timeout: never
output: =$steps.decision.approved
`,
  'definitions/nap.yaml': `
workflow: nap
steps:
  - id: rest
    sleep: 1h
`,
  'definitions/flaky.yaml': `
workflow: flaky
steps:
  - id: flaky
    step: fail
    retry: { attempts: 2, delay: 1h, maxDelay: 1h, jitter: false }
`,
  'definitions/parent.yaml': `
workflow: parent
steps:
  - id: kid
    subWorkflow: kid
    with: { n: 1 }
    timeout: 1d
output: =$steps.kid
`,
  'definitions/kid.yaml': `
workflow: kid
input: { n: { type: integer } }
steps:
  - step: note
    with: { text: kid }
  - id: ask
    waitFor: answer
    timeout: never
output: =$steps.ask
`,
  'definitions/saga.yaml': `
workflow: saga
steps:
  - id: first
    step: note
    with: { text: first }
    compensate: { step: note, with: { text: undo first } }
  - id: second
    step: note
    with: { text: second }
    compensate: { step: unless-mended, retry: { attempts: 1 } }
  - fail: Stop
    message: on purpose
`,
  'definitions/breaks.yaml': `
workflow: breaks
steps:
  - id: good
    step: note
    with: { text: good }
  - id: bad
    step: unless-mended
    retry: { attempts: 1 }
output: =$steps.bad
`,
};
