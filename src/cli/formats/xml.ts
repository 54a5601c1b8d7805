/** Text as it may stand in XML, in an attribute too; control characters, which XML cannot hold, become U+FFFD. */
export function xmlText(text: string): string {
  return text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** An attribute, line breaks kept: a reader would make spaces of them. */
export function xmlAttribute(name: string, value: string | number): string {
  const text = xmlText(String(value)).replaceAll('\n', '&#10;').replaceAll('\r', '&#13;').replaceAll('\t', '&#9;');
  return ` ${name}="${text}"`;
}
