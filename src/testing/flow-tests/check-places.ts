import type { Path } from '../../syntax/index.js';
import type { NamedItem } from './flow-under-test.js';
import { type Place, parsePlace } from './places.js';
import { type TestCheck, headOf, meant, pathOf, rangeOf } from './test-check.js';

/** A place that a test names, and what the item there must have for it. */
interface NamedPlace {
  readonly text: string;
  readonly path: Path;
  /** Whether it is a key, and not a value. */
  readonly isKey?: boolean;
  readonly needs?: 'undoing' | 'input';
}

/** Every item that a test names is there, and has what is said of it. */
export function checkPlaces(check: TestCheck): void {
  for (const named of placesOf(check)) {
    const place = parsePlace(named.text);
    if (place !== undefined) checkPlace(place, named, check);
  }
}

function placesOf(check: TestCheck): NamedPlace[] {
  const { scenario, index } = check;
  const { signals, crash, cancel, expect } = scenario;
  const places: NamedPlace[] = [];
  const add = (text: string | undefined, path: Path, needs?: NamedPlace['needs']): void => {
    if (text !== undefined) places.push({ text, path, ...(needs !== undefined && { needs }) });
  };
  signals?.forEach((signal, at) => {
    // After an item of the run under test, whoever is sent it.
    add(signal.after, [...pathOf(check, 'signals'), at, 'after']);
  });
  if (cancel !== undefined) add(cancel.after, [...pathOf(check, 'cancel'), 'after']);
  if (Array.isArray(crash)) {
    crash.forEach((point, at) => {
      const path = [...pathOf(check, 'crash'), at];
      if ('after' in point) add(point.after, [...path, 'after']);
      if ('during' in point) add(point.during, [...path, 'during']);
    });
  }
  if (expect === undefined || expect.refused !== undefined) return places;
  for (const key of ['ran', 'exactly', 'notRan', 'compensated'] as const) {
    expect[key]?.forEach((text, at) =>
      add(text, ['tests', index, 'expect', key, at], key === 'compensated' ? 'undoing' : undefined),
    );
  }
  for (const text of Object.keys(expect.inputs ?? {})) {
    places.push({ text, path: ['tests', index, 'expect', 'inputs', text], isKey: true, needs: 'input' });
  }
  add(expect.error?.step, ['tests', index, 'expect', 'error', 'step']);
  return places;
}

function checkPlace(place: Place, named: NamedPlace, check: TestCheck): void {
  const { root, flow, children, report } = check;
  const range = named.isKey === true ? headOf(root, named.path) : rangeOf(root, named.path);
  const item = flow.items.get(place.item);
  if (item === undefined) {
    const owner = [...children.values()].find(({ items }) => items.has(place.item));
    const help =
      owner === undefined
        ? meant(place.item, flow.items.keys(), 'none of its items has an id')
        : `it is an item of ${owner.definition.name}; tests of that flow may name it`;
    report.error('RS6022', range, `${flow.definition.name} has no item \`${place.item}\``, help);
    return;
  }
  const wrongTurn = turnProblem(place, item);
  if (wrongTurn !== undefined) report.error('RS6023', range, wrongTurn.message, wrongTurn.help);
  else checkNeeds(place, named, item, range, check);
}

function turnProblem({ occurrence }: Place, { id, loops }: NamedItem): { message: string; help: string } | undefined {
  if (occurrence === undefined) return undefined;
  const numbers = occurrence.split('.').length;
  if (numbers === loops) return undefined;
  if (loops === 0) return { message: `\`${id}\` is in no loop, so it has no turns`, help: `write \`${id}\`` };
  const example = `${id}#${Array.from({ length: loops }, () => '0').join('.')}`;
  const message = `\`${id}\` is in ${loops === 1 ? 'one loop' : `${loops} loops`}, and \`#${occurrence}\` counts the turns of ${numbers}`;
  return { message, help: `write one number for each loop around it, such as \`${example}\`` };
}

function checkNeeds(
  place: Place,
  { needs }: NamedPlace,
  item: NamedItem,
  range: TestCheck['root']['range'],
  { report }: TestCheck,
): void {
  if ((place.compensation || needs === 'undoing') && item.undoneBy === undefined) {
    report.error(
      'RS6024',
      range,
      `\`${item.id}\` has no \`compensate\`, so it is never undone`,
      'leave it out, or give the step a `compensate`',
    );
  } else if (place.compensation) {
    // Its compensation calls a handler and has an input.
    return;
  } else if (needs === 'input' && !item.hasInput) {
    report.error(
      'RS6025',
      range,
      `\`${item.id}\` calls nothing, so it has no input`,
      'name a step or a child workflow, or leave it out',
    );
  }
}
