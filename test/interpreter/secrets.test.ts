import { type JsonValue, MemoryStorage } from 'runsheet';
import { describe, expect, it } from 'vitest';
import { readWorkflow } from '../../src/definition/index.js';
import { Source } from '../../src/syntax/index.js';
import { type FlowOptions, type FlowRun, runFlow } from '../support/flow.js';
import { World, failing } from '../support/world.js';

const password = 'hunter2-S3CR3T';
const secrets = (name: string): string | undefined => ({ DB_PASSWORD: password, PIN: '1234', ONE: 'a' })[name];
const reference = { $secret: 'DB_PASSWORD' };

/** Everything that is kept of a run and shown to those who watch it. */
const kept = ({ run, journal, events }: FlowRun): string => JSON.stringify([run, journal, events]);

describe('a `$secret` in data is data', () => {
  const inputOf = async (flow: string, options: FlowOptions = {}): Promise<JsonValue | undefined> => {
    const { calls } = await runFlow(flow, {
      secrets,
      handlers: { send: () => true, ask: () => reference },
      ...options,
    });
    return calls.find(({ name }) => name === 'send')?.input;
  };

  it('in the input of a run', async () => {
    const flow = `
input: { body: { type: object } }
steps:
  - step: send
    with: { body: =$input.body }
`;
    expect(await inputOf(flow, { input: { body: reference } })).toEqual({ body: reference });
  });

  it('in the answer of a handler, whole and in parts', async () => {
    const flow = `
steps:
  - { id: asked, step: ask }
  - step: send
    with: { body: =$steps.asked, list: ['=$steps.asked'], name: '=$steps.asked."$secret"' }
`;
    expect(await inputOf(flow)).toEqual({ body: reference, list: [reference], name: 'DB_PASSWORD' });
  });

  it('in what a formula makes, also where it gives the whole input', async () => {
    expect(await inputOf(`steps: [{ step: send, with: '={"body": {"$secret": "DB_PASSWORD"}}' }]`)).toEqual({
      body: reference,
    });
    expect(await inputOf(`steps: [{ step: send, with: '={"$secret": "DB_PASSWORD"}' }]`)).toEqual(reference);
  });

  it('beside a real reference', async () => {
    const flow = `
input: { body: { type: object } }
steps:
  - step: send
    with: { body: =$input.body, list: [1, { token: { $secret: DB_PASSWORD } }], same: =$input.body }
`;
    expect(await inputOf(flow, { input: { body: reference } })).toEqual({
      body: reference,
      list: [1, { token: password }],
      same: reference,
    });
  });

  it('in the elements of a list and in what a set holds', async () => {
    const flow = `
inputSchema: {}
steps:
  - { id: noted, set: { body: =$input.rows } }
  - forEach: =$input.rows
    do:
      - step: send
        with: { row: =$item, noted: =$steps.noted }
`;
    const expected = { row: reference, noted: { body: [reference] } };
    expect(await inputOf(flow, { input: { rows: [reference] } })).toEqual(expected);
  });

  it('in signals, children and compensations', async () => {
    const parent = `
steps:
  - { id: told, waitFor: word, timeout: never }
  - subWorkflow: child
    with: { body: =$steps.told }
`;
    const child = `
workflow: child
input: { body: { type: object } }
steps:
  - step: send
    with: { body: =$input.body }
    compensate: { step: undo, with: { body: =$input.body, result: =$result, token: { $secret: DB_PASSWORD } } }
  - fail: Stop
`;
    const world = new World([parent, child], { send: () => reference, undo: () => null }, { secrets });
    const id = await world.begin();
    await world.engine.signal(id, 'word', reference);
    await world.end(id);
    expect(world.calls.map(({ name, input }) => [name, input])).toEqual([
      ['send', { body: reference }],
      ['undo', { body: reference, result: reference, token: password }],
    ]);
  });

  it('and may be named by a schema', () => {
    const source = new Source(
      'flow.yaml',
      `workflow: flow
input: { $secret: { type: string }, body: { type: object, properties: { $secret: { type: string } } } }
steps: [{ waitFor: word, timeout: never, schema: { type: object, properties: { $secret: { type: string } } } }]
`,
    );
    expect(readWorkflow(source).diagnostics).toEqual([]);
  });

  it.each([
    ['a constant', 'constants: { token: { $secret: X } }\nsteps: []'],
    ['the value of a set', 'steps: [{ set: { token: { $secret: X } } }]'],
    ['the input of a child', 'steps: [{ subWorkflow: child, with: { token: { $secret: X } } }]'],
    ['the default of an input', 'input: { body: { type: object, default: { $secret: X } } }\nsteps: []'],
    ['the input of a schedule', 'schedule: [{ every: 1h, input: { token: { $secret: X } } }]\nsteps: []'],
  ])('but where an author writes it as %s, it is refused', (_, flow) => {
    const { diagnostics } = readWorkflow(new Source('flow.yaml', `workflow: flow\n${flow}`));
    expect(diagnostics.map(({ code }) => code)).toEqual(['RS2027']);
  });
});

describe('what the journal holds of secrets', () => {
  const flow = `
inputSchema: {}
steps:
  - step: send
    with: { body: =$input.body, tokens: [{ $secret: DB_PASSWORD }] }
`;

  it('is the reference, and where it stands', async () => {
    const { journal } = await runFlow(flow, { handlers: { send: () => 1 }, input: { body: reference }, secrets });
    const started = JSON.parse(journal.find(({ kind }) => kind === 'step-started')?.payload ?? '') as unknown;
    expect(started).toMatchObject({
      input: { body: reference, tokens: [reference] },
      secrets: [{ name: 'DB_PASSWORD', path: ['tokens', 0] }],
    });
  });

  const begun = async (): Promise<{ storage: MemoryStorage; world: World; id: string }> => {
    const storage = new MemoryStorage();
    const retried = `${flow}    retry: { attempts: 2, delay: 1h }\n`;
    const world = new World(retried, { send: failing('Busy') }, { storage, secrets });
    const id = await world.begin({ body: reference });
    await world.engine.stop();
    return { storage, world, id };
  };

  /** As if the rows were written by somebody else. */
  const rewrite = async (storage: MemoryStorage, id: string, change: (payload: string) => string): Promise<void> => {
    const record = await storage.getRun(id);
    for (const row of await storage.readJournal(record?.run ?? 0, 0, 100)) {
      if (row.kind === 'step-started') Object.assign(row, { payload: change(row.payload ?? '') });
    }
  };

  it.each([
    ['an older Runsheet without the locations', (payload: string) => payload.replace(/"secrets":.*?\}\],/, '')],
    ['somebody who moves the locations', (payload: string) => payload.replace('["tokens",0]', '["body"]')],
  ])('is held against the flow: written by %s', async (_, change) => {
    const { storage, world, id } = await begun();
    await rewrite(storage, id, change);
    const flowText = `${flow}    retry: { attempts: 2, delay: 1h }\n`;
    const next = new World(flowText, { send: () => 'sent' }, { storage, clock: world.clock, secrets });
    await next.engine.start();
    await next.pass(3_600_000);
    expect((await next.end(id)).status).toBe('completed');
    expect(next.calls.map(({ input }) => input)).toEqual([{ body: reference, tokens: [password] }]);
    await next.engine.stop();
  });

  it('fails the step where it names another secret than the flow does', async () => {
    const { storage, world, id } = await begun();
    await rewrite(storage, id, (payload) => payload.replaceAll('DB_PASSWORD', 'PIN'));
    const flowText = `${flow}    retry: { attempts: 2, delay: 1h }\n`;
    const next = new World(flowText, { send: () => 'sent' }, { storage, clock: world.clock, secrets });
    await next.engine.start();
    await next.pass(3_600_000);
    const { error } = await next.end(id);
    expect(error?.message).toBe(
      'the recorded input of send@0 does not refer to the secret DB_PASSWORD at tokens.0, as its flow does',
    );
    expect(next.calls).toEqual([]);
    await next.engine.stop();
  });
});

describe('a stored flow that is adopted', () => {
  const parked = async (flow: string): Promise<World> => {
    const world = new World(flow, { send: () => 1, log: () => 1 }, { secrets });
    await world.begin();
    await world.engine.stop();
    return world;
  };
  const adopt = async (world: World, own: string): Promise<World> => {
    const options = { storage: world.storage, clock: world.clock, adoptStoredDefinitions: true, secrets };
    const other = new World(own, { send: () => 1, log: () => 1 }, options);
    await other.engine.recover();
    await other.engine.start();
    await other.pass(2 * 3_600_000);
    await other.engine.stop();
    return other;
  };
  const own = 'workflow: own\nsteps: [{ step: send, with: { token: { $secret: DB_PASSWORD } } }]';

  it('gives a secret to a handler to which a registered flow gives it', async () => {
    const theirs = await parked('steps: [{ sleep: 1h }, { step: send, with: { key: { $secret: DB_PASSWORD } } }]');
    expect((await adopt(theirs, own)).calls.map(({ input }) => input)).toEqual([{ key: password }]);
  });

  it('gives it to no other handler', async () => {
    const theirs = await parked('steps: [{ sleep: 1h }, { step: log, with: { key: { $secret: DB_PASSWORD } } }]');
    expect((await adopt(theirs, own)).calls).toEqual([]);
  });

  it('makes none by a formula', async () => {
    const theirs = await parked(`steps: [{ sleep: 1h }, { step: log, with: '={"key": {"$secret": "DB_PASSWORD"}}' }]`);
    expect((await adopt(theirs, own)).calls.map(({ input }) => input)).toEqual([{ key: reference }]);
  });
});

describe('the value of a secret is masked', () => {
  const flow = `
steps:
  - step: login
    with: { user: eva, password: { $secret: DB_PASSWORD } }
    retry: { attempts: 1 }
`;
  const failed = (thrown: unknown): Promise<FlowRun> =>
    runFlow(flow, {
      secrets,
      handlers: {
        login: () => {
          throw thrown;
        },
      },
    });

  it.each([
    ['the message', new Error(`no entry with ${password}!`)],
    ['the cause', new Error('refused', { cause: new Error('401', { cause: new Error(`Bearer ${password}`) }) })],
    ['the name', Object.assign(new Error('refused'), { name: `Refused ${password}` })],
    ['the code', Object.assign(new Error('refused'), { code: password })],
    ['the details', Object.assign(new Error('refused'), { details: { sent: { headers: [`Bearer ${password}`] } } })],
    ['a key of the details', Object.assign(new Error('refused'), { details: { [password]: 1 } })],
    ['a thrown text', `no entry with ${password}`],
    ['a thrown object', { message: `no entry with ${password}`, token: password }],
    ['base64', new Error(Buffer.from(password).toString('base64'))],
    ['the header of basic authentication', new Error(`Basic ${Buffer.from(`eva:${password}`).toString('base64')}`)],
    ['base64 in which it stands elsewhere', new Error(Buffer.from(`x:${password}@host`).toString('base64url'))],
    ['hexadecimal', new Error(Buffer.from(password).toString('hex'))],
  ])('in an error: %s', async (_, thrown) => {
    const done = await failed(thrown);
    expect(done.run.status).toBe('failed');
    expect(kept(done)).toContain('[secret DB_PASSWORD]');
    expect(kept(done)).not.toContain(password);
    expect(kept(done)).not.toContain(Buffer.from(password).toString('base64').slice(2, 12));
  });

  it('in addresses, forms and JSON texts', async () => {
    const odd = 'p&s "w%rd\\ñ/+=';
    const done = await runFlow(flow, {
      secrets: () => odd,
      handlers: {
        login: () => [
          `https://host/?p=${encodeURIComponent(odd)}`,
          new URLSearchParams({ p: odd }).toString(),
          JSON.stringify({ p: odd }),
          encodeURIComponent(odd).toLowerCase(),
        ],
      },
    });
    expect(done.run.output).toEqual([
      'https://host/?p=[secret DB_PASSWORD]',
      'p=[secret DB_PASSWORD]',
      '{"p":"[secret DB_PASSWORD]"}',
      '[secret DB_PASSWORD]',
    ]);
  });

  it.each([
    ['the token of a header', 'Bearer abcdefgh12345', 'abcdefgh12345'],
    ['a line of a key', '-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n', 'kqhkiG9w0BAQEF'],
    ['the password of an address', 'postgres://app:pa%24%24word-1@db:5432/x', 'pa$$word-1'],
    ['a field of a document', '{"client":"c-1","key":"s3cr3t-in-json"}', 's3cr3t-in-json'],
    ['it without the line break at its end', 'file-of-a-secret\n', 'file-of-a-secret'],
  ])('also where only %s appears', async (_, secret, part) => {
    const handlers = { login: () => ({ said: `sent ${part}.` }) };
    const done = await runFlow(flow, { secrets: () => secret, handlers });
    expect(done.run.output).toEqual({ said: 'sent [secret DB_PASSWORD].' });
  });

  it('in outputs, wherever it stands there; what follows sees the mask', async () => {
    const logged: unknown[] = [];
    const log = (...line: unknown[]): void => void logged.push(line);
    const { run, calls, journal } = await runFlow(
      `
steps:
  - id: session
    step: login
    with: { password: { $secret: DB_PASSWORD } }
  - step: use
    with: { session: =$steps.session }
`,
      {
        secrets,
        logger: { debug: log, info: log, warn: log, error: log },
        handlers: {
          login: () => ({ url: `https://eva:${password}@host`, [password]: [1, true, null], other: 'fine' }),
          use: () => null,
        },
      },
    );
    const masked = {
      url: 'https://eva:[secret DB_PASSWORD]@host',
      '[secret DB_PASSWORD]': [1, true, null],
      other: 'fine',
    };
    expect(run.status).toBe('completed');
    expect(calls[1]?.input).toEqual({ session: masked });
    expect(JSON.stringify(journal)).not.toContain(password);
    expect(logged).toEqual([
      [{ step: 'session', secrets: ['DB_PASSWORD'] }, 'a secret was masked in what the handler returned'],
    ]);
  });

  it('in the lines of its logger, whose errors stay errors', async () => {
    const lines: unknown[][] = [];
    const log = (...line: unknown[]): void => void lines.push(line);
    await runFlow(flow, {
      secrets,
      logger: { debug: log, info: log, warn: log, error: log },
      handlers: {
        login: (_, { logger }) => {
          const cyclic: Record<string, unknown> = { token: password };
          cyclic.self = cyclic;
          logger.info(`with ${password}`);
          logger.warn({ token: password, inside: new Map([['k', [password]]]), cyclic }, `with ${password}`);
          logger.error({ error: new TypeError(`bad ${password}`, { cause: new Error(password) }), at: new Date(0) });
          return null;
        },
      },
    });
    expect(lines[0]).toEqual(['with [secret DB_PASSWORD]']);
    expect(lines[1]).toEqual([
      {
        token: '[secret DB_PASSWORD]',
        inside: new Map([['k', ['[secret DB_PASSWORD]']]]),
        cyclic: { token: '[secret DB_PASSWORD]', self: '[cycle]' },
      },
      'with [secret DB_PASSWORD]',
    ]);
    const { error, at } = lines[2]?.[0] as { error: TypeError; at: unknown };
    expect(error).toBeInstanceOf(TypeError);
    expect([error.message, (error.cause as Error).message, at]).toEqual([
      'bad [secret DB_PASSWORD]',
      '[secret DB_PASSWORD]',
      '1970-01-01T00:00:00.000Z',
    ]);
    expect(error.stack).not.toContain(password);
  });

  it('in the refusal of its own input', async () => {
    const { z } = await import('zod');
    const world = new World(
      flow,
      {},
      {
        secrets,
        handlers: [
          {
            name: 'login',
            input: z.object({
              user: z.string(),
              password: z.string().refine(() => false, { error: ({ input }) => `bad: ${String(input)}` }),
            }),
            run: () => null,
          },
        ],
      },
    );
    const { error } = await world.end(await world.begin());
    expect(error?.message).toContain('bad: [secret DB_PASSWORD]');
    expect(JSON.stringify(error)).not.toContain(password);
  });

  it('of the longer one, where one secret holds another', async () => {
    const { run } = await runFlow('steps: [{ step: send, with: { a: { $secret: SHORT }, b: { $secret: LONG } } }]', {
      secrets: (name) => (name === 'SHORT' ? 'abcdefgh' : 'abcdefgh-ijklmnop'),
      handlers: { send: () => 'abcdefgh-ijklmnop and abcdefgh' },
    });
    expect(run.output).toBe('[secret LONG] and [secret SHORT]');
  });

  it('of four to seven characters as a word only, of fewer not at all', async () => {
    const { run } = await runFlow('steps: [{ step: send, with: { pin: { $secret: PIN }, one: { $secret: ONE } } }]', {
      secrets,
      handlers: {
        send: () => ({ said: 'PIN 1234 is wrong', order: 'A12345', count: 1234, grade: 'a', note: 'a bad day' }),
      },
    });
    expect(run.output).toEqual({
      said: 'PIN [secret PIN] is wrong',
      order: 'A12345',
      count: 1234,
      grade: 'a',
      note: 'a bad day',
    });
  });

  it('of which only the beginning is left in a message that is too long to keep', async () => {
    const longest = 8 * 1024;
    for (const kept of [4, 7, password.length - 1]) {
      const message = 'x'.repeat(longest - kept) + password + 'y'.repeat(100);
      const { run } = await runFlow(
        `steps: [{ step: send, with: { token: { $secret: DB_PASSWORD } }, retry: { attempts: 1 } }]`,
        {
          secrets,
          handlers: {
            send: () => {
              throw new Error(message);
            },
          },
        },
      );
      expect(run.error).toMatchObject({
        message: expect.stringMatching(/x\[secret DB_PASSWORD\]… \(\d+ more characters\)$/),
      });
    }
  });

  it('of digits also as a number', async () => {
    const flowOf = 'steps: [{ step: send, with: { pin: { $secret: PIN } } }]';
    const { run } = await runFlow(flowOf, {
      secrets: () => '4929123456781234',
      handlers: { send: () => [4929123456781234, 1] },
    });
    expect(run.output).toEqual(['[secret PIN]', 1]);
  });

  it('and is not looked for in steps that were given none', async () => {
    const { run } = await runFlow('steps: [{ step: send }]', { secrets, handlers: { send: () => password } });
    expect(run.output).toBe(password);
  });
});

describe('a secret that cannot be had', () => {
  const flow = 'steps: [{ step: send, with: { token: { $secret: DB_PASSWORD } } }]';

  it.each([
    [
      'the lookup throws',
      (): string => {
        throw new Error('vault is sealed');
      },
      'cannot be read: vault is sealed',
    ],
    ['it is no text', (() => 42) as never, 'is not a text'],
    ['it is a promise', (() => Promise.resolve('x')) as never, 'is not a text'],
  ])('fails the step by name: %s', async (_, lookup, message) => {
    const { run, calls } = await runFlow(flow, { secrets: lookup, handlers: { send: () => 1 } });
    expect(run.error).toMatchObject({ name: 'SecretMissing', step: 'send@0' });
    expect(run.error?.message).toContain(message);
    expect(calls).toEqual([]);
  });
});
