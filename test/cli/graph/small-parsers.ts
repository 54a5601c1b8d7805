/** What a text in the language of Graphviz says, read by as much of its grammar as is needed to know that it is valid. */
export interface DotGraph {
  readonly nodes: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Label of each cluster. */
  readonly clusters: ReadonlyMap<string, string>;
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly attributes: ReadonlyMap<string, string>;
  }[];
}

const dotToken = /\s*(?:("(?:[^"\\]|\\[^])*")|([A-Za-z_][A-Za-z0-9_]*|-?[0-9.]+)|(->|[{}[\]=,;]))/y;

/** @throws where the text is not of that language */
export function parseDot(text: string): DotGraph {
  const tokens: string[] = [];
  dotToken.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ''; at = dotToken.lastIndex) {
    dotToken.lastIndex = at;
    const match = dotToken.exec(text);
    if (match === null) throw new Error(`no token at ${JSON.stringify(text.slice(at, at + 30))}`);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  let next = 0;
  const take = (expected?: string): string => {
    const token = tokens[next++] ?? 'the end';
    if (expected !== undefined && token !== expected) throw new Error(`${token} instead of ${expected}`);
    return token;
  };
  const nodes = new Map<string, Map<string, string>>();
  const clusters = new Map<string, string>();
  const edges: { from: string; to: string; attributes: Map<string, string> }[] = [];
  const attributes = (): Map<string, string> => {
    const found = new Map<string, string>();
    if (tokens[next] !== '[') return found;
    take('[');
    while (tokens[next] !== ']') {
      const name = take();
      take('=');
      found.set(name, unquoted(take()));
      if (tokens[next] === ',') take();
    }
    take(']');
    return found;
  };
  const statements = (cluster: string | undefined): void => {
    take('{');
    while (tokens[next] !== '}') {
      const word = take();
      if (word === 'subgraph') {
        statements(take());
      } else if (['graph', 'node', 'edge'].includes(word)) {
        const found = attributes();
        if (word === 'graph' && cluster !== undefined) clusters.set(cluster, found.get('label') ?? '');
      } else if (tokens[next] === '->') {
        take('->');
        edges.push({ from: word, to: take(), attributes: attributes() });
      } else {
        if (!/^\w+$/.test(word)) throw new Error(`${word} instead of a node`);
        nodes.set(word, attributes());
      }
    }
    take('}');
  };
  take('digraph');
  take();
  statements(undefined);
  if (next !== tokens.length) throw new Error(`${tokens[next]} after the end`);
  return { nodes, clusters, edges };
}

function unquoted(token: string): string {
  if (!token.startsWith('"')) return token;
  return token
    .slice(1, -1)
    .replace(/\\([^])/g, (_escape, character: string) => (character === 'n' || character === 'l' ? '\n' : character))
    .replaceAll('&amp;', '&');
}

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly (XmlElement | string)[];
}

/** The root element of XML without declarations, comments or CDATA. @throws where the text is not well-formed */
export function parseXml(text: string): XmlElement {
  const stack: { name: string; attributes: Map<string, string>; children: (XmlElement | string)[] }[] = [
    { name: '', attributes: new Map(), children: [] },
  ];
  const tag = /<(\/?)([A-Za-z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/y;
  let at = 0;
  while (at < text.length) {
    const top = stack.at(-1);
    if (top === undefined) throw new Error('more ends than beginnings');
    if (text[at] !== '<') {
      const end = text.indexOf('<', at);
      const piece = text.slice(at, end === -1 ? text.length : end);
      top.children.push(decoded(piece));
      at += piece.length;
      continue;
    }
    tag.lastIndex = at;
    const match = tag.exec(text);
    if (match === null) throw new Error(`no tag at ${JSON.stringify(text.slice(at, at + 40))}`);
    at = tag.lastIndex;
    const [, isEnd, name = '', rest = '', isEmpty] = match;
    if (isEnd === '/') {
      if (top.name !== name) throw new Error(`</${name}> ends <${top.name}>`);
      stack.pop();
      continue;
    }
    const attributes = new Map(
      [...rest.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, decoded(value)] as const),
    );
    const element = { name, attributes, children: [] };
    top.children.push(element);
    if (isEmpty !== '/') stack.push(element);
  }
  const [root] = stack;
  const only = root?.children.filter((child) => typeof child !== 'string') ?? [];
  if (stack.length !== 1 || only[0] === undefined || only.length !== 1) throw new Error('not one whole element');
  return only[0];
}

function decoded(text: string): string {
  if (/&(?!(?:amp|lt|gt|quot);)/.test(text)) throw new Error(`a bare & in ${text}`);
  if (/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text)) throw new Error('a control character');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** All elements of a name, in document order. */
export function elements(root: XmlElement, name: string): XmlElement[] {
  return [
    ...(root.name === name ? [root] : []),
    ...root.children.flatMap((child) => (typeof child === 'string' ? [] : elements(child, name))),
  ];
}

export function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}
