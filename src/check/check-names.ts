import { type Report, languageVariables, quoted } from '../definition/index.js';
import { functionNames } from '../expression/index.js';
import type { HandlerCatalogue } from '../handlers/index.js';
import { type Source, nearest } from '../syntax/index.js';
import type { FlowModel } from './flow-model.js';

/** Each id stands for one item. */
export function checkIds(model: FlowModel, source: Source, report: Report): void {
  const first = new Map<string, number>();
  for (const { name, node } of model.ids) {
    const line = first.get(name);
    if (line === undefined) first.set(name, source.position(node.range.start).line);
    else
      report.error(
        'RS4005',
        node.range,
        `the id ${quoted(name)} is taken by the item in line ${line}`,
        'ids are unique in the file',
      );
  }
}

/** What breaks the rules for names is reported with the shape. */
function isName(text: string): boolean {
  return /^[A-Za-z_][\w.-]*$/.test(text);
}

/** A handler that the catalogue does not have. Without a catalogue nothing is known. */
export function checkHandlers(model: FlowModel, handlers: HandlerCatalogue, report: Report): void {
  for (const { kind, name: node } of model.calls) {
    const name = node.value;
    if (kind === 'child' || handlers.has(name) || !isName(name)) continue;
    const guess = nearest(name, handlers.keys());
    const some = [...handlers.keys()].slice(0, 8).map((each) => `\`${each}\``);
    const help =
      guess !== undefined
        ? `did you mean \`${guess}\`?`
        : some.length === 0
          ? 'there are no handlers at all'
          : `there are ${some.join(', ')}${handlers.size > some.length ? ', …' : ''}`;
    report.error('RS4007', node.range, `there is no handler ${quoted(name)}`, help);
  }
}

export function checkPolicies(model: FlowModel, policies: readonly string[], report: Report): void {
  for (const { name, node } of model.policies) {
    if (policies.includes(name) || !isName(name)) continue;
    const guess = nearest(name, policies);
    const help = guess === undefined ? 'declare it in `retryPolicies`' : `did you mean \`${guess}\`?`;
    report.error('RS4008', node.range, `there is no retry policy ${quoted(name)}`, help);
  }
}

/** `as` may take the name of no variable of the language and of no function; hiding an outer one is only confusing. */
export function checkLoopNames(model: FlowModel, report: Report): void {
  for (const { name, node, outer } of model.loopNames) {
    if (languageVariables.includes(name)) {
      report.error('RS4009', node.range, `\`$${name}\` is a variable of the language`, 'choose another name');
    } else if (functionNames.has(name)) {
      report.error('RS4009', node.range, `\`$${name}\` is a function`, 'choose another name');
    } else if (outer.includes(name)) {
      const message = `\`$${name}\` hides the element of the \`forEach\` around this one`;
      report.warning('RS4010', node.range, message, 'choose another name');
    }
  }
}
