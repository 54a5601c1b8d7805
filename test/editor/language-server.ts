import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Rpc from 'vscode-jsonrpc/node.js';

const require = createRequire(import.meta.url);
// The package has no default export that Node could name the members of.
const rpc = require('vscode-jsonrpc/node') as typeof Rpc;

export interface Completion {
  readonly label: string;
  readonly kind?: number;
  readonly insertText?: string;
}

export interface Problem {
  readonly message: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

/** Keys are offered as this kind of thing, values as others; whole pieces to fill in are of other kinds as well. */
const kinds = { key: 10, values: [12, 20] };

/** The YAML language server that editors use, without an editor. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #connection: Rpc.MessageConnection;
  readonly #folder: string;
  readonly #problems = new Map<string, (problems: readonly Problem[]) => void>();
  readonly #configured: Promise<void>;
  #documents = 0;

  /** @param schemas by the pattern of the files that they are for; those that name their own by a modeline need none */
  static async start(folder: string, schemas: Readonly<Record<string, string>> = {}): Promise<LanguageServer> {
    const server = new LanguageServer(folder, schemas);
    await server.#connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'flows' }],
      capabilities: {
        textDocument: {
          completion: { completionItem: { snippetSupport: true, documentationFormat: ['markdown'] } },
          hover: { contentFormat: ['markdown'] },
        },
        workspace: { configuration: true },
      },
    });
    await server.#connection.sendNotification('initialized', {});
    await server.#configured;
    // What it says of a first text shows that it has taken its settings up.
    await server.problems('workflow: f\n');
    return server;
  }

  private constructor(folder: string, schemas: Readonly<Record<string, string>>) {
    this.#folder = folder;
    const entry = join(dirname(require.resolve('yaml-language-server/package.json')), 'bin', 'yaml-language-server');
    this.#process = spawn(process.execPath, [entry, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout, stdin } = this.#process;
    if (stdout === null || stdin === null) throw new Error('the language server has no pipes');
    this.#connection = rpc.createMessageConnection(stdout, stdin);
    const yaml = { schemaStore: { enable: false }, validate: true, hover: true, completion: true, schemas };
    this.#configured = new Promise((resolve) => {
      this.#connection.onRequest('workspace/configuration', ({ items }: { items: { section: string }[] }) => {
        resolve();
        return items.map(({ section }) => (section === 'yaml' ? yaml : {}));
      });
    });
    this.#connection.onRequest('client/registerCapability', () => null);
    this.#connection.onNotification(
      'textDocument/publishDiagnostics',
      (told: { uri: string; diagnostics: Problem[] }) => this.#problems.get(told.uri)?.(told.diagnostics),
    );
    this.#connection.listen();
  }

  /** Keys offered at the `|` of a text. */
  async keys(textWithCursor: string): Promise<string[]> {
    const items = await this.#complete(textWithCursor);
    return items.flatMap(({ kind, label }) => (kind === kinds.key ? label : [])).sort();
  }

  /** All that is offered, each once: where a piece to fill in has the name of a key only one of them comes. */
  async words(textWithCursor: string): Promise<string[]> {
    return [...new Set((await this.#complete(textWithCursor)).map(({ label }) => label))].sort();
  }

  async values(textWithCursor: string): Promise<string[]> {
    const items = await this.#complete(textWithCursor);
    return items.flatMap(({ kind, label }) => (kind !== undefined && kinds.values.includes(kind) ? label : [])).sort();
  }

  /** Pieces of several lines to fill in. */
  async snippets(textWithCursor: string): Promise<string[]> {
    const items = await this.#complete(textWithCursor);
    const labels = items.flatMap(({ label, insertText }) =>
      /\$\{\d/.test(insertText ?? '') && insertText?.includes(':') ? label : [],
    );
    return [...new Set(labels)].sort();
  }

  async #complete(textWithCursor: string): Promise<Completion[]> {
    const { text, position } = cursorOf(textWithCursor);
    const { uri } = await this.#open(text);
    const answer = await this.#connection.sendRequest<{ items: Completion[] } | Completion[]>(
      'textDocument/completion',
      { textDocument: { uri }, position },
    );
    return Array.isArray(answer) ? answer : answer.items;
  }

  /** What is shown over the word at the `|`. */
  async hover(textWithCursor: string): Promise<string> {
    const { text, position } = cursorOf(textWithCursor);
    const { uri } = await this.#open(text);
    const answer = await this.#connection.sendRequest<{ contents: { value: string } } | null>('textDocument/hover', {
      textDocument: { uri },
      position,
    });
    return answer?.contents.value ?? '';
  }

  /** What is wrong with a text, as `line:column message`, from 1. */
  async problems(text: string): Promise<string[]> {
    const { problems } = await this.#open(text);
    return (await problems).map(
      ({ message, range }) => `${range.start.line + 1}:${range.start.character + 1} ${message}`,
    );
  }

  async #open(text: string): Promise<{ uri: string; problems: Promise<readonly Problem[]> }> {
    this.#documents += 1;
    const uri = pathToFileURL(join(this.#folder, `definitions/flow-${this.#documents}.yaml`)).href;
    const problems = new Promise<readonly Problem[]>((resolve) => this.#problems.set(uri, resolve));
    await this.#connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    });
    return { uri, problems };
  }

  async stop(): Promise<void> {
    await this.#connection.sendRequest('shutdown');
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    await this.#connection.sendNotification('exit');
    this.#connection.dispose();
    await ended;
  }
}

function cursorOf(textWithCursor: string): { text: string; position: { line: number; character: number } } {
  const offset = textWithCursor.indexOf('|');
  if (offset < 0) throw new Error('the text has no | for the cursor');
  const before = textWithCursor.slice(0, offset).split('\n');
  const text = textWithCursor.slice(0, offset) + textWithCursor.slice(offset + 1);
  return { text, position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 } };
}
