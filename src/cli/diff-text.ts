import { type JsonValue, paint } from '../common/index.js';
import type { Definition, DefinitionDiff, FieldChange, ItemChange } from '../definition/index.js';
import type { AffectedRuns } from './affected-runs.js';
import { type Given, adoptCommand } from './next-commands.js';
import { hanging } from './terminal-text.js';
import { firstOf, oneLine, shortHash, shortJson } from './text.js';

const longestValue = 70;
const mostRuns = 5;
const colors = { '+': 'green', '-': 'red', '~': 'yellow', '>': 'cyan' } as const;

type Mark = keyof typeof colors;

/** What changed in meaning, for people. */
export function diffText(
  before: Definition,
  after: Definition,
  diff: DefinitionDiff,
  { color, columns }: { readonly color: boolean; readonly columns: number | undefined },
): string {
  const side = (label: string, definition: Definition): string =>
    `${hanging(oneLine(`${label}${identity(definition)}`), columns, label.length)}\n`;
  if (diff.same) return side('same: ', after);
  const line = (mark: Mark, text: string, indent = 2): string => {
    const shown = hanging(`${' '.repeat(indent)}${mark} ${oneLine(text)}`, columns, indent + 4).slice(indent);
    return `${' '.repeat(indent)}${paint(shown, color ? colors[mark] : undefined)}\n`;
  };
  const field = (change: FieldChange, indent?: number): string => line(markOf(change), fieldText(change), indent);
  const ofDocument = diff.document.map((change) => field(change));
  const ofItems = diff.items.map((change) => itemLines(change, line, field));
  return [
    side('before: ', before),
    side('after:  ', after),
    ofDocument.length === 0 ? '' : `workflow\n${ofDocument.join('')}`,
    ofItems.length === 0 ? '' : `items\n${ofItems.join('')}`,
  ].join('');
}

/** What that means for runs that have begun. */
export function affectedText(
  after: Definition,
  affected: readonly AffectedRuns[],
  given: Given,
  columns: number | undefined,
): string {
  if (affected.length === 0) return `no unfinished run of ${oneLine(after.name)} is on another content\n`;
  const groups = affected.map(({ hash, revision, runs, conflict }) => {
    const count = `${runs.length} unfinished ${runs.length === 1 ? 'run is' : 'runs are'}`;
    return [
      `${count} on revision ${revision}, hash ${shortHash(hash)}:`,
      ...firstOf(
        runs.map((id) => `  ${id}`),
        mostRuns,
      ),
      conflict
        ? `the same revision with other content is refused until they have ended: raise \`revision\` to ${revision + 1}`
        : `they end on revision ${revision}: keep its flow among the definitions, or drive them by \`${adoptCommand(given)}\``,
    ].map((line) => hanging(oneLine(line), columns, 2));
  });
  return `${groups.flat().join('\n')}\n`;
}

function identity({ name, revision, hash, source }: Definition): string {
  return `${name} revision ${revision}, hash ${shortHash(hash)} (${source?.name ?? 'stored'})`;
}

function itemLines(
  change: ItemChange,
  line: (mark: Mark, text: string) => string,
  field: (change: FieldChange, indent: number) => string,
): string {
  switch (change.kind) {
    case 'added':
      return line('+', itemText(change));
    case 'removed':
      return line('-', itemText(change));
    case 'moved':
      return line('>', `${change.key} (moved from ${change.from} to ${change.to})`);
    case 'changed':
      return `${line('~', change.key)}${change.fields.map((each) => field(each, 6)).join('')}`;
  }
}

/** The key of an item without an id says all of it already. */
function itemText({
  key,
  verb,
  place,
}: {
  readonly key: string;
  readonly verb: string;
  readonly place: string;
}): string {
  return key.endsWith(`@${place}`) ? key : `${key} (${verb} at ${place})`;
}

function markOf({ before, after }: FieldChange): Mark {
  if (before === undefined) return '+';
  return after === undefined ? '-' : '~';
}

function fieldText({ path, before, after }: FieldChange): string {
  const shown = (value: JsonValue | undefined): string =>
    value === undefined ? '' : shortJson(value, longestValue, '--json shows all');
  if (before === undefined || after === undefined) return `${path}: ${shown(before ?? after)}`;
  return `${path}: ${shown(before)} → ${shown(after)}`;
}
