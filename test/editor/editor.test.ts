import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectSchema } from '../../src/cli/project-schema.js';
import { itemShapes } from '../../src/definition/shapes.js';
import { type Verb, verbs } from '../../src/definition/index.js';
import type { JsonObject } from '../../src/common/index.js';
import type { HandlerDescription } from '../../src/handlers/index.js';
import { LanguageServer } from './language-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const schemaFile = join(root, 'schemas/workflow.schema.json');

/** A modeline with a relative path, as flows have it. */
const head = '# yaml-language-server: $schema=../schemas/workflow.schema.json\nworkflow: f\n';
const inSteps = (text: string): string => `${head}steps:\n${text}`;

const common = ['description', 'id', 'onError', 'when'];

/** Something that each verb can have after it. */
const valueOf: Partial<Record<Verb, string>> = {
  group: '\n      - pivot: x',
  branch: '\n      - else: []',
  parallel: '\n      a: []',
};

describe('the schema of flows in the language server of editors', () => {
  let server: LanguageServer;
  beforeAll(async () => void (server = await LanguageServer.start(root)));
  afterAll(() => server.stop());

  it('offers the verbs, and what any item may have, after `- ` and after `id:`', async () => {
    expect(await server.words(inSteps('  - |\n'))).toEqual([...verbs, ...common].sort());
    const after = [...verbs, ...common].filter((key) => key !== 'id').sort();
    expect(await server.words(inSteps('  - id: a\n    |\n'))).toEqual(after);
    const nested = '  - parallel:\n      a:\n        - when: =true\n          |\n';
    expect(await server.words(inSteps(nested))).toEqual([...verbs, 'description', 'id', 'onError'].sort());
  });

  it.each(verbs)('offers after %s exactly what that verb may have', async (verb) => {
    const keys = Object.keys(itemShapes[verb].keys).filter((key) => key !== verb);
    const value = valueOf[verb] ?? ' x';
    expect(await server.keys(inSteps(`  - ${verb}:${value}\n    |\n`))).toEqual(keys.sort());
  });

  it('does so at any depth, and inside retry, compensate, remind, arms and onError', async () => {
    const deep =
      '  - parallel:\n      a:\n        - forEach: =$input.x\n          do:\n            - waitFor: x\n              |\n';
    const gate = Object.keys(itemShapes.waitFor.keys).filter((key) => key !== 'waitFor');
    expect(await server.keys(inSteps(deep))).toEqual(gate.sort());
    expect(await server.keys(inSteps('  - step: x\n    retry:\n      |\n'))).toContain('maxDelay');
    expect(await server.keys(inSteps('  - step: x\n    compensate:\n      |\n'))).toContain('exceptErrors');
    expect(await server.keys(inSteps('  - waitFor: x\n    remind:\n      |\n'))).toContain('every');
    expect(await server.keys(inSteps('  - step: x\n    onError:\n      - |\n'))).toEqual(['do', 'errors', 'when']);
    expect(await server.keys(`${head}|\n`)).toEqual(expect.arrayContaining(['input', 'steps', 'finally']));
  });

  it('offers values where there are only some, and a snippet for each verb that has one', async () => {
    expect(await server.values(inSteps('  - parallel:\n      a: []\n    join: |\n'))).toEqual(['all', 'any']);
    const snippets = await server.snippets(inSteps('  - id: a\n    |\n'));
    expect(snippets).toEqual(expect.arrayContaining(['branch', 'forEach', 'step', 'waitFor']));
    expect(await server.snippets(inSteps('  - step: x\n    |\n'))).not.toContain('waitFor');
  });

  it('explains keys under the pointer', async () => {
    expect(await server.hover(inSteps('  - st|ep: x\n'))).toContain('Name of the handler to call');
    expect(await server.hover(inSteps('  - step: x\n    time|out: 5s\n'))).toContain('How long one attempt may take');
    expect(await server.hover(`${head}revi|sion: 2\n`)).toContain('Raise it when');
  });

  it.each([
    ['a misspelt option', '  - step: x\n    tiemout: 5s\n', '5:5 Property tiemout is not allowed.'],
    [
      'a misspelt option, nested',
      '  - group:\n      - step: x\n        wiht: {}\n',
      '6:9 Property wiht is not allowed.',
    ],
    ['two verbs', '  - step: x\n    set: 1\n', '5:5 Property set is not allowed.'],
    ['a gate without its timeout', '  - waitFor: x\n', '4:5 Missing property "timeout".'],
    ['a misspelt verb', '  - stp: x\n', '4:5 Property stp is not allowed.'],
    ['no verb', '  - id: x\n', '4:5 An item needs a verb: step, set,'],
    ['a branch without else', '  - branch:\n      - { when: true, do: [] }\n', '5:7 Array has too few items.'],
    ['a duration without unit', '  - sleep: 5 hours\n', '4:12 Write a duration with its unit'],
    ['an id with a hyphen', '  - id: a-b\n    step: x\n', '4:9 An id has letters, digits and _ only'],
  ])('has one message for %s', async (_what, text, message) => {
    const problems = await server.problems(inSteps(text));
    expect(problems).toEqual([expect.stringContaining(message)]);
  });

  it('has nothing to say of real flows', async () => {
    for (const name of ['order-fulfilment', 'travel-booking', 'expense-approval', 'subscription']) {
      expect(await server.problems(readFileSync(join(root, `definitions/${name}.yaml`), 'utf8'))).toEqual([]);
    }
  });
});

describe('the schema of a project in the language server of editors', () => {
  let server: LanguageServer;
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-editor-'));
  beforeAll(async () => {
    const mail = {
      name: 'mail.send',
      description: 'Sends a mail to a customer.',
      input: {
        type: 'object',
        properties: {
          to: { type: 'string', description: 'The address.' },
          options: { type: 'object', properties: { urgent: { type: 'boolean' } }, additionalProperties: false },
        },
        required: ['to'],
        additionalProperties: false,
      },
    };
    const handlers = new Map<string, HandlerDescription>([
      ['mail.send', mail],
      ['note', { name: 'note' }],
    ]);
    const schema = projectSchema(JSON.parse(readFileSync(schemaFile, 'utf8')) as JsonObject, handlers);
    mkdirSync(join(folder, '.runsheet'), { recursive: true });
    writeFileSync(join(folder, '.runsheet/flows.schema.json'), JSON.stringify(schema));
    server = await LanguageServer.start(folder, { './.runsheet/flows.schema.json': 'definitions/*.yaml' });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const flow = (text: string): string => `workflow: f\nsteps:\n${text}`;

  it('offers the handlers after `step:`, and after each what it takes', async () => {
    expect(await server.values(flow('  - step: |\n'))).toEqual(['mail.send', 'note']);
    expect(await server.keys(flow('  - step: mail.send\n    with:\n      |\n'))).toEqual(['options', 'to']);
    const nested = '  - step: mail.send\n    with:\n      to: a\n      options:\n        |\n';
    expect(await server.keys(flow(nested))).toEqual(['urgent']);
    expect(await server.keys(flow('  - step: note\n    with:\n      |\n'))).toEqual([]);
    const undo = '  - step: note\n    compensate:\n      step: mail.send\n      with:\n        |\n';
    expect(await server.keys(flow(undo))).toEqual(['options', 'to']);
    expect(await server.keys(flow('  - step: mail.send\n    |\n'))).toEqual(
      expect.arrayContaining(['with', 'timeout', 'retry']),
    );
  });

  it('has one message for a handler that is not there, a field too many and one too few', async () => {
    expect(await server.problems(flow('  - step: mail.sent\n'))).toEqual(['3:11 There is no such handler.']);
    expect(await server.problems(flow('  - step: mail.send\n    with: { to: a, subjct: b }\n'))).toEqual([
      '4:20 Property subjct is not allowed.',
    ]);
    expect(await server.problems(flow('  - step: mail.send\n    with: {}\n'))).toEqual(['4:5 Missing property "to".']);
    expect(await server.problems(flow('  - step: mail.send\n    with: { to: a, options: { urgent: 5 } }\n'))).toEqual([
      expect.stringContaining('Incorrect type. Expected "boolean".'),
    ]);
  });

  it('lets formulas and secrets stand for anything', async () => {
    const text = '  - step: mail.send\n    with: { to: { $secret: TO }, options: { urgent: "=$input.u" } }\n';
    expect(await server.problems(flow(text))).toEqual([]);
    expect(await server.problems(flow('  - step: mail.send\n    with: =$input.mail\n'))).toEqual([]);
  });
});
