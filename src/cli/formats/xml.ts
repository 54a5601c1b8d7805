import { harmless, loggedCommands } from '../../common/index.js';

/** Text as it may stand in XML, in an attribute too; what XML cannot hold becomes U+FFFD. */
export function xmlText(text: string): string {
  return harmless(text)
    .replace(/[\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(loggedCommands, '#&#35;')
    .replace(/^(\s*):(?=:)/gm, '$1&#58;');
}

/** An attribute, line breaks kept: a reader would make spaces of them. */
export function xmlAttribute(name: string, value: string | number): string {
  const text = xmlText(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
  return ` ${name}="${text}"`;
}
