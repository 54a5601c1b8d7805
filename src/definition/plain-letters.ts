/** Letters that Unicode does not take apart into one of A to Z and an accent. */
const spelled: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** A text with the letters A to Z in place of those with accents, as people write them where there are no others. */
export function plainLetters(text: string): string {
  const whole = text.normalize('NFC').replace(/\p{L}/gu, (letter) => {
    const plain = spelled[letter.toLowerCase()];
    if (plain === undefined) return letter;
    return letter === letter.toLowerCase() ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  });
  return whole.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}
