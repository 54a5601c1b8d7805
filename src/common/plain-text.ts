/**
 * What steers whoever shows a text instead of being shown: control characters (escape sequences begin with one),
 * bidirectional marks, and what breaks lines beside a line feed.
 */
const steering = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text that steers no terminal and no reader of logs, whatever it holds. Tabs and line feeds stay. */
export function harmless(text: string): string {
  return text.replace(steering, picture);
}

/** The same in one line: a line break becomes a space, so that no text can begin a line of its own. */
export function oneLine(text: string): string {
  return harmless(text.replace(/\s*[\r\n\v\f\u0085\u2028\u2029]\s*/g, ' '));
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * JSON to be printed: the same value for whoever parses it, with all that steers a terminal or a reader of logs escaped.
 *
 * @param indent spaces; absent: in one line
 */
export function printedJson(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, undefined, indent));
}

/** What steers inside a quoted text of JSON, YAML or JavaScript, as escapes. */
export function escaped(quoted: string): string {
  return quoted.replace(steering, escape).replace(loggedCommands, '#\\u0023');
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Where GitHub Actions, Azure Pipelines and TeamCity find a command anywhere in a line. */
export const loggedCommands = /##(?=\[|vso\[|teamcity\[)/g;
