/** The markers of other tools, the longer ones first: `${{ … }}`, `${ … }`, `{{ … }}`, `{% … %}`. */
export const foreignMarker = /\$\{\{.*?\}\}|\$\{[^{}]*\}|\{\{.*?\}\}|\{%.*?%\}/s;

export function foreignMarkerMessage(marker: string): string {
  return `\`${marker}\` is the marker of another tool; nothing is put in its place`;
}

/** For a text that holds a marker: what to write for the value, and what for the text. */
export function waysOutOf(text: string, marker: string): string {
  return `for a value write \`${formulaFor(text, marker)}\`, for the text itself \`=${JSON.stringify(text)}\``;
}

/** The formula that the author of a marker probably meant: `="Hello " & $input.name` for `Hello {{ input.name }}`. */
function formulaFor(text: string, found: string): string {
  const inside = found.replace(/^[${%(]+\s*|\s*[)}%]+$/g, '');
  const path = ourPath(inside);
  const [before = '', after = ''] = text.split(found, 2);
  const parts = [before && JSON.stringify(before), path, after && JSON.stringify(after)].filter((part) => part !== '');
  return `=${parts.join(' & ')}`;
}

/** Ours for a path of another tool: `$input.name` for `inputs.name`, `params.name`, `.name` or `name`. */
export function ourPath(inside: string): string {
  const words = /^\$?(\w*)((?:\.[A-Za-z_]\w*)+)$/.exec(inside);
  const [, root = '', fields = ''] = words ?? [];
  if (words === null) return /^[A-Za-z_]\w*$/.test(inside) ? `$input.${inside}` : '$input.…';
  if (['', 'input', 'inputs', 'params'].includes(root)) return `$input${fields}`;
  if (['constants', 'variables', 'vars'].includes(root)) return `$constants${fields}`;
  // What a step gave is `$steps.<id>` itself.
  if (['steps', 'tasks', 'outputs'].includes(root)) {
    return `$steps${fields.replace(/^(\.\w+)\.(?:outputs?|results?)(?=\.|$)/, '$1')}`;
  }
  return '$input.…';
}
