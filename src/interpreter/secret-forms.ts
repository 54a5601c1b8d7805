/** A text so long is masked wherever it stands; a shorter one is too likely to be part of an ordinary word. */
const longEnough = 8;
/** A text so long, but no longer, is masked where it stands as a word; a shorter one protects nothing. */
const longEnoughAsWord = 4;

/** What gives a secret away, as the alternatives of a pattern; the longest first. */
export interface SecretForms {
  readonly anywhere: ReadonlySet<string>;
  readonly asWord: ReadonlySet<string>;
}

/** The texts under which a secret, or the part of it that matters, appears in messages, headers and addresses. */
export function formsOf(secret: string): SecretForms {
  const anywhere = new Set<string>();
  const asWord = new Set<string>();
  for (const text of partsOf(secret)) {
    if (text.length >= longEnough) anywhere.add(text);
    else if (text.length >= longEnoughAsWord) asWord.add(text);
    else continue;
    for (const form of encodedForms(text)) if (form.length >= longEnough) anywhere.add(form);
  }
  return { anywhere, asWord };
}

/** The whole, and what handlers take out of it: the token of a header, lines of a key, the password of an address. */
function partsOf(secret: string): Set<string> {
  const parts = new Set([secret, secret.trim()]);
  const token = /^[A-Za-z]+ +(\S+)$/.exec(secret.trim())?.[1];
  if (token !== undefined) parts.add(token);
  for (const line of secret.split(/[\r\n]+/)) if (line.trim().length >= longEnough) parts.add(line.trim());
  for (const part of passwordsOf(secret)) parts.add(part);
  for (const part of textsInJson(secret)) if (part.length >= longEnough) parts.add(part);
  return parts;
}

function passwordsOf(secret: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(secret) || !URL.canParse(secret)) return [];
  const { password } = new URL(secret);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** A secret may be a document, such as the key of a service account. */
function textsInJson(secret: string): string[] {
  if (!/^\s*[[{]/.test(secret)) return [];
  const texts: string[] = [];
  try {
    JSON.parse(secret, (_key, value: unknown) => {
      if (typeof value === 'string') texts.push(value, ...value.split(/[\r\n]+/));
      return value;
    });
    return texts;
  } catch {
    return [];
  }
}

function encodedForms(text: string): string[] {
  const bytes = Buffer.from(text);
  const wellFormed = bytes.toString();
  const uri = encodeURIComponent(wellFormed);
  const form = new URLSearchParams({ '': wellFormed }).toString().slice(1);
  const json = JSON.stringify(text).slice(1, -1);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => [
    insideOf(bytes, offset, 'base64'),
    insideOf(bytes, offset, 'base64url'),
  ]);
  return [json, uri, uri.toLowerCase(), form, form.toLowerCase(), hex, hex.toUpperCase(), ...base64];
}

/**
 * The characters that are the same whatever stands around the bytes: `user:secret` is encoded as a whole, so that the
 * bytes of the secret begin at any of three offsets.
 */
function insideOf(bytes: Buffer, offset: number, encoding: 'base64' | 'base64url'): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}
