import { cutTo } from './columns.js';
import { oneLine } from './plain-text.js';

/** An error as it is stored. */
export interface DescribedError {
  readonly name: string;
  readonly message: string;
  /** What it came from. */
  readonly cause?: DescribedError;
}

/** Of a chain of causes the nearest ones, and the last, which is where it began. */
const mostCauses = 3;
const longestCause = 200;

/** `TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:8099` */
export function errorText(error: DescribedError): string {
  return `${error.name}: ${messageText(error)}`;
}

/** The same without the name: the message, then the causes that say something more. */
export function messageText({ message, cause }: DescribedError): string {
  let text = oneLine(message);
  for (const each of causesOf(cause)) {
    const said = causeText(each, text);
    if (said !== '') text = text === '' ? said : `${text}: ${said}`;
  }
  return text;
}

function causesOf(cause: DescribedError | undefined): DescribedError[] {
  const chain: DescribedError[] = [];
  for (let each = cause; each !== undefined; each = each.cause) chain.push(each);
  const last = chain.at(-1);
  return chain.length <= mostCauses || last === undefined ? chain : [...chain.slice(0, mostCauses - 1), last];
}

/** Names that say nothing beside a message. */
const generic = /^(?:Error|TypeError|AggregateError)$/;

function causeText({ name, message }: DescribedError, before: string): string {
  const what = oneLine(message);
  if (what === '') return generic.test(name) || before.includes(name) ? '' : name;
  if (before.includes(what)) return '';
  return cutTo(generic.test(name) || what.includes(name) ? what : `${name}: ${what}`, longestCause);
}
